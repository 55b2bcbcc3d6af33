/** Explanations: their words, and what is drawn at each step. */

import type { Texts } from "../i18n/en";
import type { Cell, Player } from "../types";
import type { CoachMark, Explained, Explanation, Sentence } from "../types-study";

/** What is drawn on the board, in the colours of the players. */
export interface Drawing {
  fours: { player: Player; cells: Cell[] }[];
  rings: { player: Player; cell: Cell }[];
  pairs: { player: Player; cells: [Cell, Cell] }[];
  held: Cell[];
  /** Numbers on cells: moves to come, with their player, or the numbers of a diagram. */
  texts: { cell: Cell; player: Player | null; text: string }[];
}

/** Sentences as a text. `colours` are those of the first player and of the second; `terms` selects technical terms. */
export function textOf(sentences: Sentence[], colours: readonly [string, string], words: Texts["coach"], terms: boolean): string {
  return sentences
    .map((sentence) => (terms && words.inTerms(sentence, colours)) || words.say(sentence, colours))
    .filter(Boolean)
    .join(" ");
}

/** The moves of an explanation: the explained one, best play up to its reason, and the forced moves that are part of it. */
export function stepsOf({ column, reason }: Explained): number[] {
  const forced = reason.marks
    .filter(({ kind, number }) => kind === "move" && (number ?? 0) > reason.line.length)
    .sort((a, b) => a.number! - b.number!)
    .flatMap(({ cells }) => cells.map(([played]) => played));
  return [...(column === null ? [] : [column]), ...reason.line, ...forced];
}

/** How many of the steps lead to the position of the reason. */
export function stepsToReason({ column, reason }: Explained): number {
  return reason.line.length + (column === null ? 0 : 1);
}

/** The explanation of the better move. */
export function betterOf({ better }: Explained): Explained | null {
  return better && { column: better.column, sentences: better.reason.sentences, note: null, reason: better.reason, better: null };
}

/** What is drawn after `played` moves of the explanation. `first` is the colour of the first player. */
export function drawingOf({ marks, line }: Explanation, first: Player, played = line.length): Drawing {
  const drawing: Drawing = { fours: [], rings: [], pairs: [], held: [], texts: [] };
  for (const mark of marks) add(drawing, mark, played, first);
  return drawing;
}

function add(drawing: Drawing, { kind, player: side, cells, number }: CoachMark, played: number, first: Player): void {
  const player = ((side ?? 0) + first) % 2 === 0 ? 0 : 1;
  const [cell, other] = cells;
  if (!cell) return;
  switch (kind) {
    case "four":
      drawing.fours.push({ player, cells });
      break;
    case "ring":
      drawing.rings.push({ player, cell });
      break;
    case "pair":
      if (other) drawing.pairs.push({ player, cells: [cell, other] });
      break;
    case "held":
      drawing.held.push(...cells);
      break;
    case "move":
      // What was played is a disc by now; the rest of a forced sequence is still to come.
      if (number !== null && number > played) drawing.texts.push({ cell, player, text: String(number) });
      break;
    case "number":
      drawing.texts.push({ cell, player: null, text: String(number ?? "") });
      break;
  }
}
