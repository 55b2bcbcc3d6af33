/** What a move is worth, as it fits above a column. */

import type { Value } from "../types";

/** `+9` wins in 9 plies, `−4` loses in 4, `=` is a draw; else points, or a chance in per cent. */
export function shortValue({ kind, number }: Value): string {
  switch (kind) {
    case "win":
      return `+${number}`;
    case "loss":
      return `−${number}`;
    case "draw":
      return "=";
    case "chance":
      return `${Math.round(number * 100)}%`;
    case "points":
      return Math.abs(number) < 10_000 ? String(Math.round(number)) : number > 0 ? "++" : "−−";
  }
}
