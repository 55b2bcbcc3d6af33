/** The texts of the lessons. What they say of a position is checked against the solver: see `lib/learn/lessons.json`. */

import { plural as counted } from "../format";

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });

export const learn = {
  nav: "Lessons",
  title: "Learn Connect Four",
  lead: "Short lessons from the first disc to perfect play. Each has two or three positions to try, and ends with a practice game.",
  progress: (done: number, all: number) => `${done} of ${plural(all, "lesson")} done`,
  begin: "Start the first lesson",
  resume: (title: string) => `Continue: ${title}`,
  complete: "You have completed every lesson.",
  reset: "Reset progress",
  resetSure: "Reset all progress?",
  parts: { basics: "First steps", attack: "Attack", threats: "Threats that last", openings: "Openings" } as Record<string, string>,
  done: "done",
  lesson: (number: number, of: number) => `Lesson ${number} of ${of}`,
  position: (number: number, of: number) => `Position ${number} of ${of}`,
  missing: "There is no such lesson.",
  all: "All lessons",

  prompt: {
    now: (colour: string) => `You are ${colour}. Connect four!`,
    block: (colour: string) => `You are ${colour}. Stop your opponent's four.`,
    fastest: (colour: string) => `You are ${colour}. Find the fastest win.`,
    win: (colour: string) => `You are ${colour}. Find a move that wins.`,
    draw: (colour: string) => `You are ${colour}. Find a move that does not lose.`,
  },
  verdict: { right: "Right!", wrong: "Not this one." },
  misses: (column: number, row: number) => `You could have connected four at column ${column}, row ${row}.`,
  opens: (column: number, row: number) => `Your disc carries your opponent to column ${column}, row ${row}: four in a row.`,
  leaves: (column: number, row: number) => `Your opponent connects four at column ${column}, row ${row}.`,
  loses: (moves: number) => `Your opponent can now force four in a row, with ${plural(moves, "more disc")}.`,
  losesLate: (column: number, moves: number) => `With best play this loses in ${plural(moves, "move")}. The strongest reply is column ${column}.`,
  draws: (column: number) => `This gives the win away: with best play it is only a draw. The reply is column ${column}.`,
  slower: (moves: number) => `This wins too, but it takes ${plural(moves, "move")}. There is a faster way.`,
  marked: (cells: string) => `Marked on the board: you connect four at ${cells}.`,
  cell: (column: number, row: number) => `column ${column}, row ${row}`,
  again: "Try again",
  why: "Show why",
  whyTitle: (column: number) => `After column ${column}`,
  playOut: "Show how it goes on",
  hint: "Show the answer",
  answer: (columns: string) => `The answer is column ${columns}.`,
  or: " or ",
  next: "Next position",
  nextLesson: (title: string) => `Next lesson: ${title}`,
  finished: "Lesson complete",
  practice: (level: number) => `Practise against level ${level}`,
  practiceAbout: {
    win: "A game from a prepared position. With best play you win.",
    draw: "A game from a prepared position. With best play it is a draw.",
  },
  print: "Print",
  analysis: "Analysis board",
  lab: "Lab",
  solutions: "Solutions",
  task: (number: number) => `Position ${number}`,

  welcome: {
    title: "New to Connect Four?",
    text: "Learn to play in three minutes: five boards, one idea each.",
    start: "Start the tutorial",
    skip: "Not now",
  },
  tutorial: {
    title: "Connect Four in three minutes",
    step: (number: number, of: number) => `Step ${number} of ${of}`,
    skip: "Skip the tutorial",
    next: "Next",
    steps: [
      { text: "Players take turns. Choose a column, and your disc falls to the lowest free cell. Drop your first disc anywhere.", right: "That is all there is to moving. Now let us win." },
      { text: "Four of your discs in a row win: across, up or diagonally. You have three on the bottom row.", right: "Four in a row: you have won." },
      { text: "Your opponent wants the same. There are three in a row against you: put your disc in the way.", right: "Blocked. Look for this before every move." },
      { text: "Three with both ends free cannot be stopped. Turn your two discs into such a three.", right: "Your opponent can block one end, and you win at the other." },
      { text: "A disc also lifts the next one. Do not play right below a cell where your opponent would connect four.", right: "Safe. Column 4 would have carried your opponent to the fourth disc of a diagonal." },
    ],
    finished: "You know the game",
    finishedText: "Play a first game, or go on with the lessons.",
    play: "Play level 1",
    lessons: "Go to the lessons",
  },

  lessons: {
    four: {
      title: "Four in a row",
      text: ["Drop discs in turns. Whoever first has four of one colour in a straight line wins.", "The line may run across, straight up, or diagonally. Look in all three ways before every move."],
      right: ["Four across, in columns 3 to 6.", "Four on top of each other in column 5.", "A diagonal, from the bottom of column 2 up to column 5, row 4."],
    },
    gaps: {
      title: "Gaps",
      text: ["Four in a row does not have to be built from one end to the other. Two discs, a gap and a third disc are a threat as well.", "Gaps are easy to overlook, most of all in diagonals."],
      right: ["The gap was in the middle: columns 1 to 4 are yours.", "Column 3, row 4 down to column 6, row 1: you filled the gap in a diagonal.", "Again a falling diagonal, with its gap at column 3, row 3."],
    },
    block: {
      title: "Block",
      text: ["Before you move, ask: what would my opponent do if I did nothing?", "If the answer is four in a row, you have to play that cell yourself."],
      right: ["Column 7 was the only open end of the three.", "Three on top of each other: the only answer is to put your disc on them.", "A diagonal coming down from column 3, row 4 to column 6, row 1. Well seen."],
    },
    both: {
      title: "Win before you block",
      text: ["If you can connect four, do it, whatever your opponent threatens. The game is over, and the threat no longer matters.", "So look for your own four first, and for your opponent's second."],
      right: ["Your opponent threatened column 6, but you came first.", "The three in column 2 against you came one move too late.", "The diagonal to column 4, row 4 was dangerous, but row 2 was faster."],
    },
    below: {
      title: "Look above your disc",
      text: ["Every disc makes the cell above it playable. If your opponent would connect four there, the cell below is poisoned for you.", "Leave such columns alone. Your opponent cannot use them either without your help."],
      right: ["Row 3 of column 4 would complete a diagonal of your opponent, so nobody should help there. Every other column is fine.", "In row 2 your opponent waits at column 2 and at column 6. Only the columns at the edge are safe.", "Columns 1 and 6 would both have given a four away."],
    },
    centre: {
      title: "The middle",
      text: ["Most of the possible fours pass through the middle. A disc in column 4 belongs to more of them than a disc at the edge.", "If you have no better idea, play towards the middle."],
      right: ["Of the seven first moves, only the middle one wins with best play.", "Again the middle: every other column would hand the win to your opponent.", "Only the middle holds the draw here. Everything else loses."],
    },
    "open-three": {
      title: "The open three",
      text: ["Three in a row with both ends free is won: your opponent can block one end, and you play the other.", "So two discs side by side with room around them are already dangerous."],
      right: ["Three with both ends free: one of them will be yours.", "Columns 2, 3 and 4 with columns 1 and 5 free. The gap was the right place.", "To the left there was room for both ends. To the right, column 6 was taken."],
    },
    "stop-three": {
      title: "Stop the open three",
      text: ["Once three discs have two free ends, it is too late. You have to act when there are two.", "Put your disc right next to the pair, on a side that leaves no room for an open three."],
      right: ["Next to the pair, there is no room left for an open three.", "Column 2 takes the free side away, and it is the only move that holds the draw.", "In time: one disc later it would have been lost."],
    },
    double: {
      title: "Two threats at once",
      text: ["Your opponent can block one four per move. If your disc threatens two, one of them comes through.", "Look for cells where two of your lines cross."],
      right: ["Up the column and along the diagonal: two fours with one disc.", "Three in the column, and a diagonal that needs only column 2, row 4.", "The column and the diagonal down to column 7: your opponent cannot block both."],
    },
    stacked: {
      title: "One above the other",
      text: ["Two cells on top of each other where you would connect four win as well: your opponent blocks the lower one and lifts you to the upper one.", "They need not be playable in two columns. One column is enough."],
      right: ["Column 3 now wins in row 3 and in row 4.", "Column 2 wins in row 1 and in row 2. Blocking the first opens the second.", "Column 7 wins in row 1 and in row 2."],
    },
    force: {
      title: "Forced moves",
      text: ["A threat takes the choice away from your opponent: the block has to be played. So you can plan two moves ahead.", "Ask what the board looks like after your threat and the forced block. Is there a double threat now?"],
      right: ["The threat up column 3 forces the block, and then column 2 threatens twice.", "After the block in column 5 you play column 4, and two fours are open at once.", "Block in column 4, then column 2: an open three in row 3."],
    },
    "force-far": {
      title: "Long sequences",
      text: ["Several threats in a row lead far ahead, because you know every answer. Start with the threat that leaves you the most afterwards.", "Do not waste threats: once blocked, they are gone."],
      right: ["Row 2 forces column 3, and the threats go on until two come at once.", "First the threat up column 5. After the block, your three in row 3 decides the game.", "The same idea on the other side: first column 3, then row 3."],
    },
    "stop-double": {
      title: "Prevent the double threat",
      text: ["Look at the board with your opponent's eyes: is there a cell that would make two threats at once?", "Then play it yourself, or take away one of the two lines."],
      right: ["Column 6 stops the open three, and nothing else does: column 3 would leave the right side to your opponent.", "Your opponent wanted column 4, row 4, for a diagonal and a column. Now it is yours.", "Two lines crossed at column 3, row 3. You were there first."],
    },
    lasting: {
      title: "Threats that last",
      text: ["Not every threat can be played at once. A cell high up in a column may wait until somebody plays right below it.", "Such a threat lasts. Your opponent cannot block it without giving it to you: whoever plays below it opens it."],
      right: ["You would connect four at column 4, row 3. Your opponent must never play row 2 of that column.", "Column 5 is now closed to your opponent: above the next disc there, you connect four."],
    },
    odd: {
      title: "Odd rows for the first player",
      text: ["When only one column is left, the players fill it up in turns. The first player then gets the odd rows: 1, 3 and 5.", "So if you moved first, a lasting threat in an odd row is worth a lot: in the end your opponent has to play right below it. Row 3 is the best."],
      right: ["Column 4, row 3: an odd threat, and the right one for the first player.", "Again column 4, row 3. Nothing else wins here.", "Column 5, row 3: your opponent cannot touch that column any more."],
    },
    even: {
      title: "Even rows for the second player",
      text: ["The second player gets the even rows when the columns fill up: 2, 4 and 6.", "If you moved second, look for threats in row 4 or row 2. Time is on your side, as long as the first player has no odd threat."],
      right: ["Column 5, row 4: an even threat, and you only have to wait.", "Column 3, row 4 is yours at the end.", "Column 4, row 4: the first player will have to open it."],
    },
    zugzwang: {
      title: "Zugzwang",
      text: ["Nobody may pass. Near the end, somebody has to play a cell that opens a four for the other side. That is called zugzwang.", "Safe cells are moves to wait with. Who runs out of them first loses."],
      right: ["That was the last safe move. Your opponent has to start column 7, you fill it up together, and then row 4 of column 1 must be played: row 5 is yours.", "Column 1 is full. Column 7 fills up in turns, and then your opponent has to play below your four in column 5."],
    },
    claimeven: {
      title: "Claimeven",
      text: ["The second player has a simple plan: always play right above the last disc. That way every even cell is yours.", "It needs no calculation, and it wins whenever a four of yours only needs even cells."],
      right: ["You fill column 1 together. Then your opponent has to start column 7, and row 4 there is yours.", "The same plan: once column 1 is full, your opponent must play column 2, row 3, and row 4 wins.", "Every even cell is yours: column 2, row 6, which your opponent needed, and at the very end column 1, row 6, where you connect four."],
    },
    counting: {
      title: "Counting",
      text: ["To see who will be in zugzwang, count the free cells outside the deciding column.", "If the number is even and your opponent is to move, your opponent runs out first. Choose your move so that it comes out like that."],
      right: ["Two cells are left outside column 4, and your opponent is to move: after them, column 4 has to be opened.", "Two cells are left in column 7. You block row 6 there, and then column 1 must be opened for you.", "Four cells are left in column 1. You get every second one, and then your opponent must open column 7."],
    },
    "key-cell": {
      title: "The key cell",
      text: ["Sometimes both players need the same cell: it makes your threat and destroys your opponent's.", "If you cannot find a plan, look for the best move of your opponent and play there yourself."],
      right: ["After any other move, your opponent would have played here and won.", "The key cell again: column 3, row 3.", "Column 4 holds the draw. After any other move it is your opponent who plays there, and wins."],
    },
    draw: {
      title: "Save the draw",
      text: ["A game that cannot be won should not be lost. Count the safe moves of both sides and look for the one that leaves your opponent no win.", "A forced block can help: it changes whose turn it is in a column."],
      right: ["The only move that draws. Everything else opens a four sooner or later.", "Columns 3 and 7 would have opened a four. Now your opponent has to open a column.", "Your threat in row 4 must be blocked, and then you block row 5 in turn. Draw."],
    },
    "first-moves": {
      title: "The first player's opening",
      text: ["The first player starts in the middle and can always win, but the path is narrow: often a single column keeps the win.", "If the second player stays in the middle, so do you. If not, some answers are surprising."],
      right: ["The middle once more. It is the only move that wins.", "Columns 6 and 7 win, far away from the discs. In the middle it would be a draw.", "Column 2, on top of the disc, or column 6 on the other side: both win."],
    },
    "second-player": {
      title: "Other first moves",
      text: ["A first move at the edge loses: with columns 1, 2, 6 and 7 the second player can win. Columns 3 and 5 lead to a draw.", "Use such a present: know the answers."],
      right: ["The second player wins now, after columns 2, 3, 4 and 6.", "Column 3 is the only answer that wins.", "After a start in column 3, the middle keeps the draw."],
    },
    exam: {
      title: "The exam",
      text: ["Three positions with no hint about the theme. Take your time: look for fours, for double threats, for lasting threats, and count.", "After that, a game against level 8 awaits you."],
      right: ["Next to the full middle column, in columns 3 and 5, the first player wins.", "You answered right above the last disc: claimeven.", "Column 4 is the only move that wins. You are ready to play."],
    },
  },
};
