/** Which puzzles are solved, and which one comes next. */

import type { Certainty, Puzzle } from "../types-study";

/** The progress stored in the browser. */
export interface Solved {
  /** The moves of the solved puzzles. */
  solved: string[];
  /** How many in a row were solved on the first try. */
  streak: number;
  /** The moves of the puzzles whose first try was counted. */
  tried: string[];
}

export const NOTHING_SOLVED: Solved = { solved: [], streak: 0, tried: [] };

/** Parses stored progress; invalid data counts as none. */
export function parseSolved(text: string | null): Solved {
  try {
    const value: unknown = JSON.parse(text ?? "");
    const { solved, streak, tried } = value as Partial<Solved>;
    if (!Array.isArray(solved)) return NOTHING_SOLVED;
    const texts = (list: unknown): string[] => (Array.isArray(list) ? list.filter((one) => typeof one === "string") : []);
    return { solved: texts(solved), streak: typeof streak === "number" && streak > 0 ? Math.floor(streak) : 0, tried: texts(tried) };
  } catch {
    return NOTHING_SOLVED;
  }
}

/** Marks a puzzle as solved. */
export function solve({ solved, streak, tried }: Solved, puzzle: Puzzle, atFirst: boolean): Solved {
  return { tried, solved: solved.includes(puzzle.moves) ? solved : [...solved, puzzle.moves], streak: atFirst ? streak + 1 : 0 };
}

/** A filter for puzzles: a grade, 0 for all; a theme, empty for all. */
export interface PuzzleFilter {
  grade: number;
  theme: string;
}

/** The indices of the puzzles that pass the filter. */
export function filterPuzzles(puzzles: Puzzle[], { grade, theme }: PuzzleFilter): number[] {
  return puzzles.flatMap((puzzle, index) => ((grade === 0 || puzzle.grade === grade) && (theme === "" || puzzle.themes.includes(theme)) ? [index] : []));
}

/** Whether a try is a first one, which is counted. */
export function isFirstTry({ solved, tried }: Solved, { moves }: Puzzle): boolean {
  return !tried.includes(moves) && !solved.includes(moves);
}

/** The easiest unsolved puzzle that passes the filter; if all are solved, the easiest one. */
export function easiest(puzzles: Puzzle[], filter: PuzzleFilter, { solved }: Solved): number {
  const known = new Set(solved);
  const places = filterPuzzles(puzzles, filter).sort((a, b) => effort(puzzles[a]!) - effort(puzzles[b]!) || a - b);
  return places.find((index) => !known.has(puzzles[index]!.moves)) ?? places[0] ?? 0;
}

/** Sorts by rating, then by length. Blocks come first; other draws count as long as the longest win. */
function effort({ rating, discs, themes }: Puzzle): number {
  return 100 * rating + (discs || (themes[0] === "must-block" ? 1.5 : 99));
}

/** The next unsolved puzzle that passes the filter; if all are solved, the next one. */
export function nextPuzzle(puzzles: Puzzle[], filter: PuzzleFilter, { solved }: Solved, from: number): number {
  const places = filterPuzzles(puzzles, filter);
  const known = new Set(solved);
  const later = [...places.filter((index) => index > from), ...places.filter((index) => index < from)];
  return later.find((index) => !known.has(puzzles[index]!.moves)) ?? later[0] ?? from;
}

export function previousPuzzle(puzzles: Puzzle[], filter: PuzzleFilter, from: number): number {
  const places = filterPuzzles(puzzles, filter);
  return places.filter((index) => index < from).at(-1) ?? places.at(-1) ?? from;
}

/** The themes of some puzzles, in order of first use, with how many there are and how many are solved. */
export function themesOf(puzzles: Puzzle[], { solved }: Solved): { theme: string; all: number; solved: number }[] {
  const known = new Set(solved);
  const themes = [...new Set(puzzles.flatMap((puzzle) => puzzle.themes))];
  return themes.map((theme) => {
    const own = puzzles.filter((puzzle) => puzzle.themes.includes(theme));
    return { theme, all: own.length, solved: own.filter(({ moves }) => known.has(moves)).length };
  });
}

/** The move to find, and what it achieves. */
export function solutionOf({ goal, discs, column }: Puzzle): Certainty & { column: number } {
  const sign = goal === "win" ? 1 : 0;
  const value = goal === "win" ? { kind: "win" as const, number: 2 * discs - 1, text: "" } : { kind: "draw" as const, number: 0, text: "" };
  return { column, value, at_least: sign, at_most: sign, no_loss_within: 0 };
}
