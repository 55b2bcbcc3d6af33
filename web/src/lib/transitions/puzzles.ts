/** Which puzzles were solved, and which comes next. */

import type { Puzzle } from "../types-study";

/** What is kept in the browser. */
export interface Solved {
  /** The moves of the puzzles that were solved. */
  solved: string[];
  /** How many in a row at the first try. */
  streak: number;
}

export const NOTHING_SOLVED: Solved = { solved: [], streak: 0 };

/** Reads what was kept; anything else is nothing. */
export function parseSolved(text: string | null): Solved {
  try {
    const value: unknown = JSON.parse(text ?? "");
    const { solved, streak } = value as Partial<Solved>;
    if (!Array.isArray(solved)) return NOTHING_SOLVED;
    return { solved: solved.filter((one) => typeof one === "string"), streak: typeof streak === "number" && streak > 0 ? Math.floor(streak) : 0 };
  } catch {
    return NOTHING_SOLVED;
  }
}

/** Takes note of a puzzle that was solved. */
export function solve({ solved, streak }: Solved, puzzle: Puzzle, atFirst: boolean): Solved {
  return { solved: solved.includes(puzzle.moves) ? solved : [...solved, puzzle.moves], streak: atFirst ? streak + 1 : 0 };
}

/** The puzzles of a grade by their places in the list; of all grades for 0. */
export function ofGrade(puzzles: Puzzle[], grade: number): number[] {
  return puzzles.flatMap((puzzle, index) => (grade === 0 || puzzle.grade === grade ? [index] : []));
}

/** The next puzzle of a grade that is not solved yet, from a place on; once all are solved, simply the next. */
export function nextPuzzle(puzzles: Puzzle[], grade: number, { solved }: Solved, from: number): number {
  const wanted = ofGrade(puzzles, grade);
  const known = new Set(solved);
  const later = [...wanted.filter((index) => index > from), ...wanted.filter((index) => index <= from && index !== from)];
  return later.find((index) => !known.has(puzzles[index]!.moves)) ?? later[0] ?? from;
}

export function previousPuzzle(puzzles: Puzzle[], grade: number, from: number): number {
  const wanted = ofGrade(puzzles, grade);
  return wanted.filter((index) => index < from).at(-1) ?? wanted.at(-1) ?? from;
}
