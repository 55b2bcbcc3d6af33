/** All texts of the page in English. Every other language has a folder with the same keys. */

import { countText } from "../../transitions/clock";
import type { SetupProblem } from "../../transitions/setup";
import type { Reason, Result, Setup } from "../../types";
import { plural as counted, size } from "../format";
import { research } from "./research";
import { coach } from "./coach";
import { fleet } from "./fleet";
import { learn } from "./learn";
import { play } from "./play";
import { players } from "./players";
import { refusals } from "./refusals";
import { share } from "./share";
import { study } from "./study";

/** The names of the two colours in the chosen palette. */
export type Colours = readonly [string, string];

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });

export const en = {
  product: "Claimeven",
  study,
  research,
  fleet,
  learn,
  coach,
  play,
  share,
  refusals,
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

  players,
  agent: players.agent,
  agentKind: players.kind,

  setup: ({ cols, rows, connect, ruleset }: Setup): string =>
    `${size(cols, rows)}, Connect ${connect}${ruleset === "lines" ? ", most lines" : ""}`,
  setupShort: ({ cols, rows, connect, ruleset }: Setup): string =>
    [size(cols, rows), connect === 4 ? "" : `Connect ${connect}`, ruleset === "lines" ? "most lines" : ""].filter(Boolean).join(" · "),
  setupProblem: (problem: SetupProblem, { cols, rows, connect }: Setup): string => {
    switch (problem) {
      case "cols":
        return `Choose 1 to 35 columns (currently ${cols}).`;
      case "rows":
        return `Choose 1 to 35 rows (currently ${rows}).`;
      case "connect":
        return `Connect at least 2 discs (currently ${connect}).`;
      case "large":
        return `${size(cols, rows)} is too large: columns × (rows + 1) must not exceed 128.`;
      default:
        return "";
    }
  },
  noLineFits: (connect: number): string => `This board is too small for ${connect} in a row, so nobody can win.`,

  you: "You",
  openSeat: "Waiting for a player",
  guest: "Guest",

  home: {
    title: "Connect Four",
    goal: "Take turns dropping discs. The first to get four in a row wins: across, up and down, or diagonally.",
    goalAgain: "Show the example again",
    lead: "Drop a disc to start.",
    playAgainst: (level: number) => `Play level ${level}`,
    level: "Level",
    friend: "Invite a friend",
    friendAbout: "Send a link, play on two devices",
    two: "Local game",
    twoAbout: "Pass and play on this device",
    watch: "Watch the computer",
    watchAbout: "Two computer levels play each other",
    more: "More options",
    moreAbout: "Board, rules, clock, custom engine",
    latest: "Latest games",
    mine: "Your games",
    all: "All games",
  },

  newGame: {
    title: "New game",
    kind: "Opponent",
    kinds: {
      level: "Computer",
      algorithm: "Custom engine",
      friend: "Friend online",
      two: "Local game",
      watch: "Computer vs. computer",
    },
    kindAbout: {
      friend: "You get a link and a QR code. The first person to open it plays against you; everyone else can watch.",
      two: "You take turns on this device.",
    },
    level: "Level",
    levelName: players.level,
    levels: "Levels",
    algorithm: "Engine",
    engines: "Engines",
    advanced: "Advanced",
    builtInNetwork: "Built-in network",
    defaultValue: (value: string) => (value ? `default: ${value}` : "not set"),
    seat: (colour: string) => `${colour}: player`,
    board: "Board",
    preset: "Size",
    cols: "Columns",
    rows: "Rows",
    connect: "Connect",
    less: (what: string) => `${what}: decrease`,
    moreOf: (what: string) => `${what}: increase`,
    customSize: "Custom size",
    ruleset: "Rules",
    rulesets: { standard: "Standard", lines: "Most lines" },
    rulesetAbout: {
      standard: "The first player to connect enough discs in a row wins. If the board fills up first, the game is a draw.",
      lines: "Every line of connected discs scores a point. The game ends when the board is full, and the player with more lines wins.",
    },
    colour: "Your colour",
    first: "Who starts",
    firsts: { you: "You", other: "Opponent", random: "Random" },
    clock: "Clock",
    noClock: "No clock",
    custom: "Custom",
    minutes: "Minutes per player",
    increment: "Increment (seconds)",
    clockText: (minutes: number, increment: number) => `${minutes} + ${increment}`,
    clockAbout: "Minutes per player for the whole game + seconds added after every move.",
    name: "Your name",
    namePlaceholder: "Shown to your opponent",
    start: "Start game",
    invite: "Create invitation link",
    watch: "Watch",
    preview: "Preview",
    rosterFailed: "Failed to load the list of players.",
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
    searchProgress: (depth: number | null, nodes: number | null) =>
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
    /** If the user lost. */
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
    /** Precedes the number of the column. */
    moveNumber: (n: number, colour: string) => `Move ${n}, ${colour}, column`,
    steps: { first: "First position", back: "Step back", forward: "Step forward", last: "Current position" },
    looking: (ply: number, moves: number) => `After move ${ply} of ${moves}`,
    backToGame: "Back to the game",
    undo: "Undo",
    requestTakeback: "Request takeback",
    redo: "Redo",
    hint: "Hint",
    hintThinking: "Thinking",
    flip: "Flip",
    resign: "Resign",
    confirmResign: "Resign now?",
    drawOffer: "Offer a draw",
    rematch: "Rematch",
    again: "Play again",
    newGame: "New game",
    copied: "Link copied",
    help: "Keyboard shortcuts",
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
    changeOpponent: (name: string) => `Change opponent (currently ${name})`,
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
    thinkingTime: "Thinking time",
    timeLeft: "Time left",
    time: (colour: string, text: string) => `${colour}: ${text}`,
  },

  history: {
    title: "Games",
    mine: "Your games",
    everyone: "Everyone's games",
    filters: "Filters",
    whose: "Whose games",
    result: "Result",
    results: { "": "Any result", me: "You won", lost: "You lost", draw: "Draw" },
    status: "Status",
    statuses: { "": "Any status", playing: "In progress", finished: "Finished", waiting: "Waiting for a player" },
    ruleset: "Rules",
    rulesets: { "": "Any rules", standard: "Standard", lines: "Most lines" },
    opponent: "Computer opponent",
    anyOpponent: "Any opponent",
    player: "Player name",
    size: "Board",
    anySize: "Any size",
    none: "No games yet",
    noneAbout: "Every game you play is saved here automatically.",
    noneFiltered: "No game matches these filters.",
    clear: "Clear filters",
    more: "Show more",
    open: (names: string) => `Open ${names}`,
    remove: "Delete",
    confirmRemove: "Delete?",
    removed: "Game deleted.",
    download: "Download",
    moves: (n: number) => plural(n, "move"),
    playing: "In progress",
    waiting: "Waiting for a player",
    versus: (a: string, b: string) => `${a} vs. ${b}`,
  },

  settings: {
    title: "Settings",
    saved: "Settings are saved in this browser.",
    appearance: "Appearance",
    theme: "Theme",
    themes: { system: "System", light: "Light", dark: "Dark" },
    palette: "Board and discs",
    palettes: { classic: "Classic", clear: "Clear", walnut: "Walnut", dusk: "Dusk" },
    paletteAbout: { classic: "Red and yellow", clear: "Colour-blind friendly: blue and orange, with shapes", walnut: "Black and ivory", dusk: "Coral and teal" },
    marks: "Shapes on the discs",
    marksOptions: { auto: "Automatic", subtle: "Subtle", bold: "Bold" },
    play: "Game",
    sound: "Sound",
    soundAbout: "A soft knock when a disc lands.",
    motion: "Animation",
    motions: { system: "System", full: "On", reduced: "Reduced" },
    numbers: "Column numbers",
    name: "Your name",
    language: "Language",
    languageAuto: "Browser language",
    on: "On",
    off: "Off",
    data: "Your data",
    deleteData: "Delete my data…",
    deleteDataTitle: "Delete my data",
    deleteDataText:
      "This deletes all your games, reviews, tournaments and training runs on this server, and the cookie that identifies you. Games with other people stay in their history without your name; those still in progress count as resigned. This cannot be undone.",
    deleteDataYes: "Delete everything",
    deleteDataNo: "Keep my data",
    deleteDataDone: "Your data has been deleted.",
  },

  about: {
    title: "Help",
    rules: "Rules",
    rulesText: [
      "Two players take turns dropping discs into the columns of an upright board. A disc falls to the lowest free cell. The first player to get four in a row – horizontally, vertically or diagonally – wins. If the board is full and nobody has four in a row, the game is a draw.",
      "Under the “Most lines” rules, the game always continues until the board is full. Every line of four scores a point, and the player with more lines wins.",
      "You can also choose other board sizes and how many discs have to be connected.",
    ],
    keys: "Keyboard shortcuts",
    levels: "Levels",
    levelsText: "Ten opponents, each clearly stronger than the one before. Level 10 plays perfectly on the standard board.",
    name: "The name",
    nameText: "Claimeven is a classic strategy of the second player: always play directly on top of your opponent's last disc, and you get every cell in the even rows.",
    data: "Privacy",
    dataText: "Games are saved on the server with their moves and the players' names. One cookie remembers which games are yours. Settings are stored in this browser only. The page loads nothing from other servers.",
  },

  keys: {
    title: "Keyboard shortcuts",
    list: [
      [["1", "…", "9", "0"], "Drop a disc in that column (0 is column 10)"],
      [["←", "→"], "Choose a column, or step through a finished game"],
      [["Enter", "↓"], "Drop a disc in the chosen column"],
      [["U"], "Undo"],
      [["R"], "Redo"],
      [["H"], "Hint"],
      [[",", "."], "Step back and forward"],
      [["Home", "End"], "First and last position"],
      [["F"], "Flip the board"],
      [["N"], "New game"],
      [["?"], "Show this list"],
    ] as [string[], string][],
    close: "Close",
  },

  missing: {
    title: "Page not found",
    about: "This address does not exist. The link may be incomplete.",
    home: "Go to the home page",
  },

  errors: {
    offline: "The server cannot be reached. Check your internet connection.",
    busy: (seconds: number | null) => (seconds ? `The server is busy. Try again in ${plural(seconds, "second")}.` : "The server is busy. Try again in a moment."),
    unexpected: (status: number) => `Server error ${status}.`,
    retry: "Try again",
    close: "Close",
  },
};

export type Texts = typeof en;
