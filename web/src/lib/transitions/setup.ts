/** The boards that a form accepts. The server decides in the end; this validates the preview while the user types. */

import type { Setup } from "../types";

export const MAX_SIDE = 35;
const MAX_BITS = 128;

export const STANDARD: Setup = { cols: 7, rows: 6, connect: 4, ruleset: "standard" };

export type SetupProblem = "cols" | "rows" | "connect" | "large" | null;

export function setupProblem({ cols, rows, connect }: Setup): SetupProblem {
  const side = (n: number): boolean => Number.isInteger(n) && n >= 1 && n <= MAX_SIDE;
  if (!side(cols)) return "cols";
  if (!side(rows)) return "rows";
  if (!Number.isInteger(connect) || connect < 2 || connect > 255) return "connect";
  return cols * (rows + 1) > MAX_BITS ? "large" : null;
}

/** Whether no line of that length fits, so that nobody can win. It is allowed, with a warning. */
export function noLineFits({ cols, rows, connect }: Setup): boolean {
  return connect > cols && connect > rows;
}

/** The maximum number of rows for this many columns. */
export function maxRows(cols: number): number {
  return Math.max(1, Math.min(MAX_SIDE, Math.floor(MAX_BITS / Math.max(1, cols)) - 1));
}

export function sameSetup(a: Setup, b: Setup): boolean {
  return a.cols === b.cols && a.rows === b.rows && a.connect === b.connect && a.ruleset === b.ruleset;
}
