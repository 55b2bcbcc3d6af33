/** Which boards a form may ask for. The server has the last word; this only keeps the preview honest while one types. */

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

/** No line of that length fits, so nobody can win; it is allowed, and worth a warning. */
export function noLineFits({ cols, rows, connect }: Setup): boolean {
  return connect > cols && connect > rows;
}

/** The most rows that fit beside so many columns. */
export function mostRows(cols: number): number {
  return Math.max(1, Math.min(MAX_SIDE, Math.floor(MAX_BITS / Math.max(1, cols)) - 1));
}

export function sameSetup(a: Setup, b: Setup): boolean {
  return a.cols === b.cols && a.rows === b.rows && a.connect === b.connect && a.ruleset === b.ruleset;
}
