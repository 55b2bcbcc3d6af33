/** The steps of a hint: where to look, why, and which column. */

import type { Hint } from "../types";

export type Area = "left" | "middle" | "right";

export type HintReason =
  | { because: "wins-now" | "must-block" | "only-move" | "draws" }
  /** The user's own moves until the end of the game. */
  | { because: "wins" | "loses"; moves: number }
  | { because: "opinion"; side: "better" | "even" | "worse" };

/** The area of the board that a column belongs to, as the user sees it. */
export function areaOf(column: number, cols: number, flipped: boolean): Area {
  const place = flipped ? cols + 1 - column : column;
  const side = Math.floor(cols / 3);
  if (place <= side) return "left";
  return place > cols - side ? "right" : "middle";
}

/** The columns of the area around a column. */
export function areaColumns(column: number, cols: number, flipped: boolean): number[] {
  const area = areaOf(column, cols, flipped);
  return Array.from({ length: cols }, (_, index) => index + 1).filter((one) => areaOf(one, cols, flipped) === area);
}

export function reasonOf({ column, columns, value, exact }: Pick<Hint, "column" | "columns" | "value" | "exact">): HintReason {
  const certain = value.kind === "win" || value.kind === "loss" || value.kind === "draw";
  if (value.kind === "win" && value.number <= 1) return { because: "wins-now" };
  const others = columns.filter((one) => one && one.column !== column);
  const lost = others.filter((one) => one?.value.kind === "loss");
  // After every other move, the opponent wins with the next one.
  if (others.length > 0 && lost.length === others.length && value.kind !== "loss") {
    return { because: lost.every((one) => (one?.value.number ?? 0) <= 2) ? "must-block" : "only-move" };
  }
  if (!exact && !certain) return { because: "opinion", side: sideOf(value) };
  if (value.kind === "draw") return { because: "draws" };
  return { because: value.kind === "win" ? "wins" : "loses", moves: Math.max(1, Math.ceil(value.number / 2)) };
}

function sideOf({ kind, number }: Hint["value"]): "better" | "even" | "worse" {
  const points = kind === "expected" ? number - 0.5 : number;
  const even = kind === "expected" ? 0.05 : 0;
  return points > even ? "better" : points < -even ? "worse" : "even";
}
