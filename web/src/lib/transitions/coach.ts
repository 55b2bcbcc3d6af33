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

/** Sentences as a text. `colours` are those of the first player and of the second. */
export function textOf(sentences: Sentence[], colours: readonly [string, string], words: Texts["coach"]): string {
  return sentences
    .map((sentence) => words.say(sentence, colours))
    .filter(Boolean)
    .join(" ");
}

/** The moves of an explanation: the explained one, and best play up to its reason. */
export function stepsOf({ column, reason }: Explained): number[] {
  return column === null ? reason.line : [column, ...reason.line];
}

/** The better move, explained as if it had been asked for. */
export function betterOf({ better }: Explained): Explained | null {
  return better && { column: better.column, sentences: better.reason.sentences, note: null, reason: better.reason, better: null };
}

/** What is drawn when all moves of the line are on the board. `first` is the colour of the first player. */
export function drawingOf({ marks, line }: Explanation, first: Player): Drawing {
  const drawing: Drawing = { fours: [], rings: [], pairs: [], held: [], texts: [] };
  for (const mark of marks) add(drawing, mark, line.length, first);
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
      // The moves of the line are discs by now; those of a forced sequence are still to come.
      if (number !== null && number > played) drawing.texts.push({ cell, player, text: String(number) });
      break;
    case "number":
      drawing.texts.push({ cell, player: null, text: String(number ?? "") });
      break;
  }
}
