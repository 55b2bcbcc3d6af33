/** Key bindings. */

import type { Step } from "./steps";

export type Action =
  | { do: "drop"; column: number }
  | { do: "aim"; by: -1 | 1 }
  | { do: "drop-aimed" }
  | { do: "step"; way: Step }
  | { do: "play" | "undo" | "redo" | "hint" | "new" | "flip" | "help" };

export interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  /** The key is held down and this is not its first event. */
  repeat: boolean;
}

export interface Situation {
  cols: number;
  /** The user may drop a disc now. */
  canMove: boolean;
  /** What has the focus: a field takes every key, a button or link takes Enter. */
  focus: "field" | "control" | "column" | "none";
}

export function keyAction(key: Key, { cols, canMove, focus }: Situation): Action | null {
  if (key.ctrlKey || key.metaKey || key.altKey || focus === "field") return null;
  if (/^[0-9]$/.test(key.key)) {
    const column = key.key === "0" ? 10 : Number(key.key);
    return column <= cols && !key.repeat ? { do: "drop", column } : null;
  }
  switch (key.key) {
    case "ArrowLeft":
      return canMove ? { do: "aim", by: -1 } : { do: "step", way: "back" };
    case "ArrowRight":
      return canMove ? { do: "aim", by: 1 } : { do: "step", way: "forward" };
    case "Enter":
    case " ":
      // A focused button handles these itself.
      if (focus !== "none" || key.repeat) return null;
      if (canMove) return { do: "drop-aimed" };
      return key.key === " " ? { do: "play" } : null;
    case "ArrowDown":
      return canMove && !key.repeat ? { do: "drop-aimed" } : null;
    case ",":
      return { do: "step", way: "back" };
    case ".":
      return { do: "step", way: "forward" };
    case "Home":
      return { do: "step", way: "first" };
    case "End":
      return { do: "step", way: "last" };
  }
  if (key.repeat) return null;
  switch (key.key.toLowerCase()) {
    case "u":
      return { do: "undo" };
    case "r":
      return { do: "redo" };
    case "h":
      return { do: "hint" };
    case "n":
      return { do: "new" };
    case "f":
      return { do: "flip" };
    case "?":
      return { do: "help" };
    default:
      return null;
  }
}

/** The aimed column after a step to the left or right; the first step starts in the middle. */
export function aimAt(aim: number | null, by: -1 | 1, cols: number, flipped: boolean): number {
  if (aim === null) return Math.ceil(cols / 2);
  const next = aim + (flipped ? -by : by);
  return Math.min(cols, Math.max(1, next));
}
