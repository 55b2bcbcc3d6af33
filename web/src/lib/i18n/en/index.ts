/** All texts of the page in English. Another language is another file with the same keys. */

import { levelOf, parseAgent, type FieldError } from "../../transitions/agent-text";
import { countText } from "../../transitions/clock";
import type { SetupProblem } from "../../transitions/setup";
import type { Reason, Result, Setup } from "../../types";
import { plural as counted } from "../format";
import { bench } from "./bench";
import { play } from "./play";
import { study } from "./study";

/** Names of the two colours, as the chosen palette calls them. */
export type Colours = readonly [string, string];

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });

const AGENTS: Record<string, string> = {
  random: "Random",
  influence: "Influence map",
  minimax: "Minimax",
  alphabeta: "Alpha-beta",
  mtdf: "MTD(f)",
  timed: "Timed search",
  mcts: "Monte Carlo",
  zero: "AlphaZero",
  perfect: "Perfect",
};

const PARAMETERS: Record<string, string> = {
  depth: "Depth",
  eval: "Evaluation",
  ties: "Equal moves",
  ms: "Time per move (ms)",
  sims: "Simulations",
  model: "Network",
  c: "Exploration",
  cpuct: "Exploration",
  fpu: "Doubt of untried moves",
  batch: "Positions at once",
  temperature: "Chance",
  proofs: "Proofs",
  every: "Every move exact",
  table: "Table (MB)",
  threads: "Threads",
  book: "Opening book",
  seed: "Seed",
};

export const en = {
  product: "Claimeven",
  study,
  bench,
  play,
  title: (page: string) => (page ? `${page} · Claimeven` : "Claimeven: Connect Four"),

  nav: {
    label: "Main",
    home: "Claimeven, home",
    new: "New game",
    games: "Games",
    settings: "Settings",
    about: "Help",
    skip: "Skip to content",
  },

  colours: {
    classic: ["Red", "Yellow"],
    clear: ["Blue", "Orange"],
    walnut: ["Black", "Ivory"],
    dusk: ["Coral", "Teal"],
  } satisfies Record<string, Colours> as Record<string, Colours>,

  agent: (text: string, network = (id: string): string => id): string => {
    const level = levelOf(text);
    if (level !== null) return `Level ${level}`;
    const { name, fields } = parseAgent(text);
    const shown = Object.entries(fields)
      .filter(([key]) => key !== "seed")
      .map(([key, value]) => `${PARAMETERS[key]?.replace(/ \(.*/, "").toLowerCase() ?? key} ${key === "model" ? network(value) : value}`);
    return [AGENTS[name] ?? name, ...shown].join(", ");
  },
  agentKind: (name: string): string => AGENTS[name] ?? name,
  parameter: (name: string): string => PARAMETERS[name] ?? name,
  fieldError: (error: FieldError, text: string): string => {
    switch (error.must) {
      case "number":
        return `'${text}' is not a number`;
      case "whole":
        return `'${text}' is not a whole number`;
      case "least":
        return `at least ${error.limit}, not ${text}`;
      case "most":
        return `at most ${error.limit}, not ${text}`;
    }
  },

  setup: ({ cols, rows, connect, ruleset }: Setup): string =>
    `${cols} × ${rows}, ${connect} in a line${ruleset === "lines" ? ", most lines" : ""}`,
  setupShort: ({ cols, rows, connect, ruleset }: Setup): string =>
    [`${cols} × ${rows}`, connect === 4 ? "" : `connect ${connect}`, ruleset === "lines" ? "most lines" : ""].filter(Boolean).join(" · "),
  setupProblem: (problem: SetupProblem, { cols, rows, connect }: Setup): string => {
    switch (problem) {
      case "cols":
        return `A board has 1 to 35 columns, not ${cols}.`;
      case "rows":
        return `A board has 1 to 35 rows, not ${rows}.`;
      case "connect":
        return `A line has 2 cells or more, not ${connect}.`;
      case "large":
        return `${cols} × ${rows} is too large: columns × (rows + 1) may be 128 at most.`;
      default:
        return "";
    }
  },
  noLineFits: (connect: number): string => `No line of ${connect} fits on this board, so nobody can win.`,

  you: "You",
  anybody: "Waiting for a player",
  guest: "Guest",

  home: {
    title: "Connect Four, for everyone",
    lead: "Drop a disc to begin.",
    hint: (opponent: string) => `You against ${opponent}. Click a column and the game is on.`,
    play: "Play",
    playAgainst: (level: number) => `Play level ${level}`,
    level: "Level",
    easier: "Easier opponent",
    harder: "Harder opponent",
    friend: "Invite a friend",
    friendAbout: "Send a link, play on two screens",
    two: "Two at one screen",
    twoAbout: "Take turns on this device",
    watch: "Watch the computer",
    watchAbout: "Two levels play each other",
    more: "More options",
    moreAbout: "Board, rules, clock, algorithm",
    latest: "Latest games",
    mine: "Your games",
    all: "All games",
    none: "No games yet. The first one is a click away.",
  },

  newGame: {
    title: "New game",
    kind: "Opponent",
    kinds: {
      level: "Level",
      algorithm: "Algorithm",
      friend: "Friend online",
      two: "One screen",
      watch: "AI against AI",
    },
    kindAbout: {
      friend: "You get a link and a QR code. Whoever opens it first plays against you; everyone after that watches.",
      two: "Both of you play on this screen, in turn.",
    },
    level: "Level",
    levelName: (n: number) => `Level ${n}`,
    algorithm: "Algorithm",
    parameters: "Its parameters",
    ownNetwork: "Claimeven's own",
    byDefault: (value: string) => (value ? `usually ${value}` : "not set"),
    seat: (colour: string) => `${colour} is played by`,
    board: "Board",
    preset: "Size",
    cols: "Columns",
    rows: "Rows",
    connect: "In a line",
    less: (what: string) => `${what}: one less`,
    moreOf: (what: string) => `${what}: one more`,
    ruleset: "Rules",
    rulesets: { standard: "First line wins", lines: "Most lines" },
    rulesetAbout: {
      standard: "Whoever closes a line first has won. A full board without one is a draw.",
      lines: "Every line is a point. Play goes on until the board is full, and more points win.",
    },
    colour: "Your colour",
    first: "Who starts",
    firsts: { you: "You", other: "Opponent", random: "By lot" },
    clock: "Clock",
    noClock: "No clock",
    custom: "Other",
    minutes: "Minutes",
    increment: "Seconds per move",
    clockText: (minutes: number, increment: number) => `${minutes} + ${increment}`,
    clockAbout: "Minutes for the whole game, and seconds added with every move.",
    name: "Your name",
    namePlaceholder: "Shown to the other player",
    start: "Start the game",
    invite: "Get the link",
    watch: "Start watching",
    preview: "Preview",
    rosterFailed: "The list of players could not be loaded.",
  },

  game: {
    title: (names: string) => names,
    loading: "Loading the game",
    missing: "Game not found",
    missingAbout: "It may have been deleted, or the link is incomplete.",
    columns: "Columns",
    columnFree: (column: number, row: number) => `Column ${column}, drops to row ${row}`,
    columnFull: (column: number) => `Column ${column}, full`,
    column: (column: number, contents: string) => `Column ${column}: ${contents}`,
    empty: "empty",
    full: (column: number) => `Column ${column} is full`,
    board: (setup: Setup, discs: number) => `Board of ${setup.cols} columns and ${setup.rows} rows with ${plural(discs, "disc")}`,
    yourTurn: "Your turn",
    turn: (colour: string) => `${colour} to move`,
    turnOf: (name: string) => `${name} to move`,
    notYourTurn: "It is not your turn",
    thinking: "thinking",
    thinkingAs: (depth: number | null, nodes: number | null) =>
      [depth ? `depth ${depth}` : "", nodes ? `${countText(nodes)} nodes` : ""].filter(Boolean).join(" · "),
    moved: (colour: string, column: number, row: number) => `${colour}, column ${column}, row ${row}.`,
    takenBack: "Move taken back.",
    toMove: (colour: string) => `${colour} to move.`,
    joined: (name: string) => `${name} has joined.`,
    left: (name: string) => `${name} is disconnected.`,
    back: (name: string) => `${name} is back.`,
    won: (name: string) => `${name} won`,
    youWon: "You won",
    youLost: "You lost",
    draw: "Draw",
    reasons: {
      line: "four in a row",
      "board-full": "the board is full",
      time: "opponent ran out of time",
      forfeit: "opponent forfeited",
      resigned: "opponent resigned",
      agreed: "by agreement",
      abandoned: "opponent left",
    } satisfies Record<Reason, string> as Record<string, string>,
    /** Where the person lost. */
    ownReasons: {
      time: "you ran out of time",
      forfeit: "you forfeited",
      resigned: "you resigned",
      abandoned: "you left the game",
    } as Record<string, string>,
    /** How a game ended, after "You won:", "You lost:", "Red won:" or "Draw:". */
    reason: (result: Result, { connect, ruleset }: Pick<Setup, "connect" | "ruleset">, lost = false): string => {
      if (ruleset === "lines" && ["line", "board-full"].includes(result.reason)) return result.winner === null ? "the same number of lines" : "more lines";
      if (result.winner === null && result.reason === "abandoned") return "everyone left";
      if (result.reason === "line" && connect !== 4) return `${connect} in a row`;
      return (lost ? en.game.ownReasons[result.reason] : undefined) ?? en.game.reasons[result.reason] ?? result.reason;
    },
    lines: (n: number) => plural(n, "line"),
    moves: "Moves",
    noMoves: "No moves yet",
    /** Stands before the number of the column. */
    moveNumber: (n: number, colour: string) => `Move ${n}, ${colour}, column`,
    steps: { first: "First position", back: "Step back", forward: "Step forward", last: "Current position" },
    looking: (ply: number, moves: number) => `After move ${ply} of ${moves}`,
    toNow: "Back to the game",
    undo: "Undo",
    askUndo: "Request takeback",
    redo: "Redo",
    hint: "Hint",
    hintThinking: "Thinking",
    flip: "Flip",
    resign: "Resign",
    resignSure: "Resign now?",
    drawOffer: "Offer a draw",
    rematch: "Rematch",
    again: "Play again",
    newGame: "New game",
    save: "Download the game",
    share: "Copy the link",
    copied: "Link copied",
    help: "Keyboard keys",
    cancel: "Cancel",
    accept: "Accept",
    decline: "Decline",
    offers: {
      draw: (name: string) => `${name} offers a draw.`,
      undo: (name: string) => `${name} requests a takeback.`,
      rematch: (name: string) => `${name} wants a rematch.`,
    },
    offered: {
      draw: "Draw offered.",
      undo: "Takeback requested.",
      rematch: "Rematch offered.",
    },
    toRematch: "Go to the rematch",
    opponent: "Opponent",
    changeLevel: (name: string) => `Change the opponent, now ${name}`,
    waiting: "Waiting for your friend",
    waitingAbout: "Send this link. The game starts when your friend joins.",
    waitingOther: "Waiting for a second player",
    inviteLink: "Invitation link",
    copy: "Copy",
    qr: "QR code of the invitation link",
    join: (colour: string) => `Play ${colour}`,
    joinAbout: (name: string) => `${name} invites you to a game.`,
    watching: "You are watching",
    watchers: (n: number) => `${n} watching`,
    online: "online",
    offline: "disconnected",
    away: (left: string) => `disconnected, ${left} to reconnect`,
    awayFor: (time: string) => `disconnected for ${time}`,
    reconnecting: "Disconnected. Reconnecting",
    reconnected: "Reconnected.",
    thoughtFor: "Thinking time",
    clockOf: "Time left",
    time: (colour: string, text: string) => `${colour}: ${text}`,
  },

  history: {
    title: "Games",
    mine: "Your games",
    everyone: "Everyone's",
    filters: "Filters",
    whose: "Whose games",
    result: "Result",
    results: { "": "Any result", me: "Won by you", lost: "Lost by you", draw: "Drawn" },
    status: "State",
    statuses: { "": "Any state", playing: "Being played", finished: "Finished", waiting: "Waiting" },
    ruleset: "Rules",
    rulesets: { "": "Any rules", standard: "First line wins", lines: "Most lines" },
    opponent: "Opponent",
    anyOpponent: "Anyone",
    player: "Player",
    size: "Board",
    anySize: "Any size",
    none: "No games here",
    noneAbout: "Games are saved by themselves as they are played.",
    noneFiltered: "No game matches these filters.",
    clear: "Clear the filters",
    more: "Show more",
    open: (names: string) => `Open ${names}`,
    remove: "Delete",
    removeSure: "Delete?",
    removed: "The game is deleted.",
    download: "Download",
    moves: (n: number) => plural(n, "move"),
    playing: "Being played",
    waiting: "Waiting for a player",
    versus: (a: string, b: string) => `${a} – ${b}`,
  },

  settings: {
    title: "Settings",
    saved: "Settings are kept in this browser.",
    appearance: "Appearance",
    theme: "Theme",
    themes: { system: "System", light: "Light", dark: "Dark" },
    palette: "Board and discs",
    palettes: { classic: "Classic", clear: "Clear", walnut: "Walnut", dusk: "Dusk" },
    paletteAbout: { classic: "Red and yellow", clear: "Colour-blind safe, with shapes", walnut: "Black and ivory", dusk: "Coral and teal" },
    marks: "Shapes on the discs",
    marksOptions: { auto: "Automatic", subtle: "Subtle", bold: "Bold" },
    play: "Play",
    sound: "Sound",
    soundAbout: "A soft knock when a disc lands.",
    motion: "Movement",
    motions: { system: "System", full: "Full", reduced: "Reduced" },
    numbers: "Column numbers",
    numbersAbout: "Under the columns, for the keyboard and the move list.",
    name: "Your name",
    nameAbout: "Shown to people you play with.",
    language: "Language",
    languageAuto: "Browser language",
    on: "On",
    off: "Off",
  },

  about: {
    title: "Help",
    rules: "The game",
    rulesText: [
      "Two players drop discs into the columns of a standing board. A disc falls to the lowest free cell. Whoever has four in a line first, across, up or diagonally, wins; a full board without a line is a draw.",
      "With “most lines” nobody wins early: every line of four is a point, and whoever has more when the board is full has won.",
      "Every board of up to 35 columns can be played, with any length of line.",
    ],
    keys: "Keys",
    levels: "Levels",
    levelsText: "Ten opponents, each a fair step above the one before. Level 10 plays perfectly on the usual board.",
    name: "The name",
    nameText: "Claimeven is the oldest trick of the second player: answer every move by playing on top of it, and all cells of the even rows are yours.",
    data: "What is stored",
    dataText: "Games are saved on the server as lists of moves, with the names that were given. One cookie tells which seats are yours. Settings stay in this browser. Nothing is loaded from anywhere else.",
  },

  keys: {
    title: "Keyboard",
    list: [
      [["1", "…", "9", "0"], "Drop a disc in that column; 0 is column 10"],
      [["←", "→"], "Choose a column, or step through a game that is over"],
      [["Enter", "↓"], "Drop a disc in the chosen column"],
      [["U"], "Undo"],
      [["R"], "Redo"],
      [["H"], "Hint"],
      [[",", "."], "Step back and forward"],
      [["Home", "End"], "First and current position"],
      [["F"], "Flip the board"],
      [["N"], "New game"],
      [["?"], "This list"],
    ] as [string[], string][],
    close: "Close",
  },

  missing: {
    title: "Nothing here",
    about: "There is no page at this address.",
    home: "To the start",
  },

  errors: {
    offline: "Cannot reach the server. Check your internet connection.",
    busy: (seconds: number | null) => (seconds ? `The server is busy. Please try again in ${plural(seconds, "second")}.` : "The server is busy. Please try again in a moment."),
    unexpected: (status: number) => `The server answered with error ${status}.`,
    retry: "Try again",
    close: "Close",
  },
};

export type Texts = typeof en;
