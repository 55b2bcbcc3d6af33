/** The value of a move, short enough to fit above a column. */

import { percent } from "../i18n/format";
import type { Value } from "../types";

/** `+9` wins with the ninth disc from now, `−4` loses in four, `=` is a draw; otherwise points, or a probability in per cent. */
export function shortValue({ kind, number }: Value): string {
  switch (kind) {
    case "win":
      return `+${Math.ceil(number / 2)}`;
    case "loss":
      return `−${Math.ceil(number / 2)}`;
    case "draw":
      return "=";
    case "lines":
      return number > 0 ? `+${number}` : number < 0 ? `−${-number}` : "=";
    case "expected":
      return percent(number);
    case "points":
      return Math.abs(number) < 10_000 ? String(Math.round(number)) : number > 0 ? "++" : "−−";
  }
}
