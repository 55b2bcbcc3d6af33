/** The texts of the study pages: analysis, review, puzzles and statistics. */

import type { Ruleset, Value } from "../../types";
import type { Certainty, Judgement } from "../../types-study";
import { percent, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });

/** What a move does, as the end of a sentence that begins with the move: "wins in 3", "draws". */
const does = ({ value, at_least, at_most, no_loss_within }: Certainty): string => {
  if (value) return value.kind === "draw" || (value.kind === "lines" && value.number === 0) ? "draws" : valueText(value);
  if (at_least === 1) return "wins";
  if (at_most === -1) return "loses";
  if (at_least === 0) return at_most === 0 ? "draws" : "at least draws";
  const safe = no_loss_within > 0 ? `does not lose within ${plural(no_loss_within, "move")}` : "";
  if (at_most === 0) return safe ? `at most draws and ${safe}` : "at most draws";
  return safe || "is not solved";
};

/** The value of a position or a move for the side to move. */
const valueText = ({ kind, number }: Value): string => {
  switch (kind) {
    case "win":
      return `wins in ${Math.ceil(number / 2)}`;
    case "loss":
      return `loses in ${Math.floor(number / 2)}`;
    case "draw":
      return "draw";
    case "lines":
      return number === 0 ? "draw" : `${number > 0 ? "wins" : "loses"} by ${plural(Math.abs(number), "line")}`;
    case "expected":
      return percent(number, 1);
    case "points":
      return number > 0 ? `+${whole(number)}` : number < 0 ? `−${whole(-number)}` : "0";
  }
};

export const study = {
  nav: {
    menu: "More pages",
    analysis: "Analysis",
    puzzles: "Puzzles",
    statistics: "Statistics",
    lab: "Lab",
    arena: "Arena",
    training: "Training",
    play: "Play",
    learn: "Learn",
    research: "Research",
  },

  analysis: {
    title: "Analysis board",
    value: valueText,
    /** The evaluation of a position in words, given the colour to move and the other one. */
    verdict: {
      of: ({ value, at_least, at_most }: Certainty, mover: string, other: string): string => {
        if (value?.kind === "lines" && value.number !== 0) return `${value.number > 0 ? mover : other} wins by ${plural(Math.abs(value.number), "line")}`;
        if (value?.kind === "win" || value?.kind === "loss") return `${value.kind === "win" ? mover : other} wins in ${Math.ceil(value.number / 2)}`;
        if (at_least === 1) return `${mover} wins`;
        if (at_most === -1) return `${other} wins`;
        if (at_least === 0) return at_most === 0 ? "Draw" : `At least a draw for ${mover}`;
        return at_most === 0 ? `At most a draw for ${mover}` : "Not solved";
      },
      unknown: "Not solved",
      over: (winner: string | null, ruleset: Ruleset, scores: [number, number]): string => {
        const [more, fewer] = [Math.max(...scores), Math.min(...scores)];
        const lines = ruleset === "lines" ? `, ${more} to ${fewer}` : "";
        return winner === null ? `The game is drawn${lines}` : `${winner} has won${lines}`;
      },
      loading: "Analysing…",
    },
    looking: "Looking deeper…",
    toMove: (colour: string) => `${colour} to move`,
    estimate: (column: number, depth: number) => `Column ${column} looks best (search depth ${depth})`,
    noLossWithin: (colour: string, moves: number) => `Certain: ${colour} does not lose within ${plural(moves, "move")}.`,
    stillLooking: "The results under the columns are certain. The rest is still being analysed.",
    notExact: "This position cannot be solved in a few seconds. The results under the columns are certain (“safe for 6” means that a move does not lose within 6 moves); the move that looks best is only an estimate.",
    expected: "Expected play (estimate)",
    looksBest: (depth: number) => `looks best (search depth ${depth})`,
    book: "Opening book",
    bookAbout: "The book has the exact values of all positions with up to 12 discs.",
    exact: "Exact",
    bound: "Not solved",
    values: "Value of each column",
    column: (column: number, text: string) => `Column ${column}: ${text}`,
    full: "full",
    best: "best",
    /** What is proven about a move, in words. */
    certain: ({ value, at_least, at_most, no_loss_within }: Certainty): string => {
      if (value) return valueText(value);
      if (at_least === 1) return "wins";
      if (at_most === -1) return "loses";
      if (at_least === 0) return at_most === 0 ? "draw" : "at least a draw";
      const safe = no_loss_within > 0 ? `does not lose within ${plural(no_loss_within, "move")}` : "";
      return [at_most === 0 ? "at most a draw" : "", safe].filter(Boolean).join(", ") || "not solved";
    },
    /** The same in two or three words. */
    short: ({ value, at_least, at_most, no_loss_within }: Certainty): string => {
      if (value) return valueText(value);
      if (at_least === 1) return "wins";
      if (at_most === -1) return "loses";
      if (at_least === 0) return at_most === 0 ? "draw" : "draw or win";
      return at_most === 0 ? "draw or loss" : no_loss_within > 0 ? `safe for ${no_loss_within}` : "–";
    },
    does,
    bar: (text: string) => `Evaluation: ${text}`,
    line: "Best play",
    moved: (colour: string, column: number) => `${colour}: column ${column}`,
    playTo: (column: number, colour: string) => `${colour} plays column ${column}: play up to here`,

    moves: "Moves",
    noMoves: "Drop discs to explore. Go back and play another column to add a variation.",
    setUpStart: "Starts from a custom position",
    deleteLine: "Delete from here",
    promote: "Make this the main line",
    rename: "Name this line",
    nameOf: "Name of the line",
    nameFor: (column: number) => `Name of the line that begins with column ${column}`,
    done: "Done",
    variation: "Variation",

    threats: "Threats",
    showThreats: "Show threats on the board",
    noThreats: "No threats yet.",
    threat: (row: number, column: number, odd: boolean, open: boolean, lasting: boolean) =>
      `column ${column}, row ${row} (${odd ? "odd" : "even"}${lasting ? ", lasting" : ""})${open ? ", can be played now" : ""}`,
    odd: "odd",
    even: "even",
    why: "Why odd and even?",
    whyText: [
      "A threat is an empty cell that would complete a winning row. If a disc dropped now would land there, it wins at once. Most threats cannot be reached yet: the cell below is empty, and whoever plays there lets the other side use or block the threat.",
      "Near the end nobody wants to play below a threat, and the other columns fill up. On a board with an even number of rows, the player who moved first then gets the cells of the odd rows, and the other player those of the even rows.",
      "That is why an odd threat is worth most to the first player and an even threat to the second. A dotted outline marks such a lasting threat.",
    ],

    opinions: "Opinions",
    opinionsAbout: "What computer players that do not use the solver think of this position. Their numbers are estimates, except for forced wins and losses.",
    opinionAgents: { "alphabeta:depth=8,every=on": "Alpha-beta, depth 8", "mcts:sims=20000": "Monte Carlo, 20,000 simulations", "zero:sims=0": "Network without search", "zero:sims=200": "AlphaZero, 200 simulations" } as Record<string, string>,
    other: "Another computer player…",
    ask: "Ask",
    thinking: "thinking…",
    plays: (column: number, value: string) => `plays column ${column}, ${value}`,
    bestMove: "best move",
    inaccurate: "inaccurate",
    shares: { mcts: "Share of simulations", zero: "Policy", other: "Values" },
    work: (nodes: string, ms: string) => `${nodes} nodes, ${ms}`,

    setUp: "Set up",
    setUpTitle: "Set up a position",
    place: "Disc to place",
    erase: "Remove",
    setUpHint: "Or place discs by hand: click a column to drop a disc into it or to remove its top disc.",
    counts: (a: string, b: string, x: number, o: number) => `${a} ${x}, ${b} ${o}.`,
    uneven: (a: string, b: string) => `${a} moves first, so it needs as many discs as ${b}, or one more.`,
    use: "Analyse this position",
    clear: "Empty the board",
    cancel: "Cancel",
    paste: "Paste a position",
    pasteAbout: "Moves (4453, or 4, 4, 5, 3), a link from another solver (…?pos=4453), a board drawn with . X O, or a Kaggle board.",
    read: "Load position",
    board: "Board",
    ruleset: "Rules",
    flip: "Flip the board",
    start: "New analysis",
    share: "Copy and share",
    copyMoves: "Moves",
    copyPicture: "Board as text",
    copyLink: "Link",
    saveSvg: "Image (SVG)",
    savePng: "Image (PNG)",
    copied: "Copied",
    copyFailed: "The browser does not allow copying. Select and copy the text here:",
  },

  review: {
    title: "Game review",
    button: "Review",
    of: (names: string) => `Review: ${names}`,
    loading: "Analysing every move…",
    unfinished: "This game is not over yet. Come back when it is finished.",
    back: "Back to the game",
    analyse: "Open in analysis",
    graph: "Evaluation after each move",
    graphAbout: (a: string, b: string) => `Above the middle line, ${a} is winning; below it, ${b}. The closer to the edge, the sooner the win. Click a move to jump to it, or use the arrow keys.`,
    after: (ply: number, text: string) => `After move ${ply}: ${text}`,
    accuracy: "Accuracy",
    noAccuracy: "–",
    accuracyAbout: "No move could change the result",
    formula:
      "Accuracy is the share of points that a player kept. A win is worth two points, a draw one. Each move can lose at most the difference between the best and the worst move of its position; accuracy = 1 − points lost ÷ maximum points that could be lost. Slower wins and faster losses cost nothing.",
    formulaTitle: "How accuracy is calculated",
    counts: { blunders: "Blunders", mistakes: "Mistakes", only_moves: "Only moves", slower_wins: "Slower wins", faster_losses: "Faster losses" } as Record<string, string>,
    countsAbout: {
      blunders: "Turned a win or a draw into a loss",
      mistakes: "Turned a win into a draw",
      only_moves: "The only move that kept the result",
      slower_wins: "Still wins, but later",
      faster_losses: "Loses anyway, but sooner",
    } as Record<string, string>,
    /** In the ruleset `lines` every game lasts until the board is full. */
    linesCounts: { slower_wins: "Smaller wins", faster_losses: "Larger losses" } as Record<string, string>,
    linesCountsAbout: { slower_wins: "Still wins, but by fewer lines", faster_losses: "Loses anyway, but by more lines" } as Record<string, string>,
    judgements: {
      best: "Best",
      good: "Good",
      only: "Only move",
      "slower-win": "Slower win",
      "faster-loss": "Faster loss",
      mistake: "Mistake",
      blunder: "Blunder",
      unknown: "Not solved",
    } satisfies Record<Judgement, string> as Record<string, string>,
    linesJudgements: { "slower-win": "Smaller win", "faster-loss": "Larger loss" } as Record<string, string>,
    judged: (judgement: string, value: string) => (value ? `${judgement}: ${value}` : judgement),
    better: (column: number, choice: Certainty) => `Column ${column} ${does(choice)}.`,
    estimate: (column: number, depth: number) => `Column ${column} looked best (search depth ${depth}).`,
    judgedMoves: "Judged moves",
    judgedOf: (judged: number, moves: number) => `${judged} of ${moves}`,
    soFar: (judged: number, moves: number) =>
      `${judged} of ${plural(moves, "move")} are judged so far. The rest takes a little longer.`,
    incomplete: (judged: number, moves: number) =>
      `${judged} of ${plural(moves, "move")} could be judged (${percent(judged / Math.max(1, moves))}). The others come too early in the game to be solved on this board; for them, the review shows what a search prefers.`,
    start: "Start of the game",
    given: "opening",

    learn: (own: boolean): string => (own ? "Learn from your mistakes" : "Learn from the mistakes"),
    learnAbout: (n: number, own: boolean) =>
      own ? `You missed ${plural(n, "better move")}. Find ${n === 1 ? "it" : "them"}.` : `${plural(n, "better move was", "better moves were")} missed. Find ${n === 1 ? "it" : "them"}.`,
    noErrors: "No mistakes to learn from. Well played!",
    noErrorsKnown: (judged: number, moves: number) => (judged === 0 ? "None of the moves could be judged, so no mistakes are known." : `No mistakes among the ${judged} of ${moves} moves that could be judged.`),
    whose: "Whose mistakes",
    both: "Both players",
    errorOf: (n: number, of: number) => `${n} of ${of}`,
    find: { win: (colour: string) => `${colour} can win here. Find the move.`, draw: (colour: string) => `${colour} can hold a draw here. Find the move.` },
    played: (column: number, choice: Certainty) => `In the game: column ${column}, which ${does(choice)}.`,
    right: (column: number, choice: Certainty) => `Correct! Column ${column} ${does(choice)}.`,
    rightSlower: (column: number, choice: Certainty, best: Certainty) => `Correct! Column ${column} ${does(choice)} (the best move ${does(best)}).`,
    wrong: (column: number, choice: Certainty) => `Column ${column} ${does(choice)}. Try again.`,
    unsure: (column: number) => `Column ${column} has not been solved, so it may be just as good. Try another one.`,
    hint: "Hint",
    hintIn: (choice: Certainty) => `The best move ${does(choice)}.`,
    hintSide: (side: "left" | "middle" | "right") => ({ left: "Look at the left side.", middle: "Look at the middle.", right: "Look at the right side." })[side],
    solution: "Show the move",
    solutionIs: (column: number, choice: Certainty) => `Column ${column} ${does(choice)}.`,
    refutation: "Why was it wrong?",
    refutationTitle: (column: number) => `Why column ${column} was wrong`,
    continuation: "Show how it continues",
    continuationTitle: (column: number) => `Best play after column ${column}`,
    next: "Next position",
    skip: "Skip",
    done: "Back to the review",
    again: "Back to the position",
    yourMove: (colour: string) => `Your move: ${colour} to play.`,
  },

  puzzles: {
    title: "Puzzles",
    daily: "Today's puzzle",
    grade: "Difficulty",
    grades: ["", "Very easy", "Easy", "Medium", "Hard", "Expert"],
    all: "All",
    theme: "Theme",
    allThemes: "All themes",
    themes: {
      "win-now": "Win now",
      "must-block": "Must block",
      "double-threat": "Double threat",
      "stacked-threats": "Stacked threats",
      "forcing-moves": "Forcing moves",
      "odd-threat": "Zugzwang: odd threat",
      "even-threat": "Zugzwang: even threat",
      "no-safe-move": "No safe move left",
      "follow-up": "Following up",
      "long-plan": "Long plans",
      "opens-four": "Playing below a threat",
      "save-the-draw": "Save the draw",
    } as Record<string, string>,
    themesAbout: {
      "win-now": "You can connect four with this disc.",
      "must-block": "The opponent is about to connect four.",
      "double-threat": "Make two threats at once: only one can be blocked.",
      "stacked-threats": "Make a threat right above another one.",
      "forcing-moves": "Every move of yours is a threat that must be blocked.",
      "odd-threat": "Use a threat in an odd row: the opponent runs out of safe moves.",
      "even-threat": "Use a threat in an even row: the opponent runs out of safe moves.",
      "no-safe-move": "Every move of the opponent lets you connect four right above it.",
      "follow-up": "Answer right above the opponent's discs, and you will get the cells you need.",
      "long-plan": "The win takes many moves. Look for lasting threats, and count.",
      "opens-four": "A disc right below a cell where the opponent would connect four.",
      "save-the-draw": "Every other move loses.",
    } as Record<string, string>,
    next: "Next puzzle",
    skip: "Skip",
    previous: "Previous puzzle",
    goal: { win: (colour: string, discs: number) => (discs === 1 ? `${colour} to move and win` : `${colour} to move and win in ${discs}`), draw: (colour: string) => `${colour} to move and hold a draw` },
    only: "Only one move works. Play it out to the win.",
    onlyDraw: "Only one move works.",
    solved: (n: number, of: number) => `${n} of ${of} solved`,
    right: "Correct! Continue: the opponent defends as well as possible.",
    won: "Solved! Four in a row.",
    held: "Solved! The draw is safe.",
    rightSlower: (choice: Certainty) => `Still winning, but slower: ${does(choice)}.`,
    wrong: (column: number, choice: Certainty) => `Column ${column} ${does(choice)}. Try again.`,
    progress: (done: number, of: number) => `Move ${done} of ${of}`,
    reset: "Reset my progress",
    confirmReset: "Reset all progress?",
    analyse: "Open in analysis",
    alreadySolved: "You have solved this puzzle.",
    streak: (n: number) => `${plural(n, "puzzle")} in a row on the first try`,
    empty: "No puzzles of this kind.",
    rating: (rating: number) => `Rating ${rating}`,
    ratingAbout: (solved: number, tried: number) => (tried === 0 ? "Nobody has tried it yet: the rating is based on the difficulty." : `Solved on the first try by ${solved} of ${tried}.`),
  },

  statistics: {
    title: "Statistics",
    mine: "Your games",
    everyone: "All games",
    whose: "Whose games",
    none: "No finished games yet",
    noneAbout: "Finished games are counted here.",
    games: (n: number) => plural(n, "game"),
    won: "Won",
    drawn: "Drawn",
    lost: "Lost",
    score: "Score",
    interval: (low: string, high: string) => `${low} to ${high}`,
    intervalAbout: "Score is the share of points; a draw counts half. The bar is the 95% Wilson interval, which is wide if there are few games.",
    accuracy: "Accuracy",
    accuracyAbout: "Accuracy is the average over all reviewed games.",
    length: "Moves per game",
    time: "Time per move",
    groups: { opponent: "By opponent", colour: "By who moves first", opening: "By opening", size: "By board", ruleset: "By rules", player: "By player" } as Record<string, string>,
    first: "Moving first",
    second: "Moving second",
    people: "People",
    reviewed: (n: number) => `${plural(n, "game")} reviewed`,
    gamesHead: "Games",
    moves: "Moves",
    mineAbout: "Local games, in which you play both sides, are not counted.",
    progress: "Progress",
    progressAbout: "Score of the last ten games at each point, and accuracy where it is known.",
    progressScore: "Score, last 10 games",
    progressAccuracy: "Accuracy, last 10 games",
    costs: "What costs you games",
    costsAbout: (games: number, of: number) => `The themes of the mistakes that decided the game, in ${whole(games)} of your last ${plural(of, "game")}.`,
    costsRecent: (n: number) => `${n} of the last 20`,
    costsNone: "None of your reviewed games was decided by a mistake of yours.",
    costsLesson: "Lesson",
    costsPuzzles: "Puzzles",
    lengths: "How long games last",
    explorer: "Opening explorer",
    explorerAbout: "The moves played from a position: how often, with what results, and their exact values.",
    explorerEmpty: "No game continued from here.",
    column: "Column",
    played: "Played",
    exact: "Value",
    firstWins: (colour: string) => `${colour} won`,
    unit: "moves",
    more: "Show all",
    firstMoverScore: "Score moving first",
  },
};
