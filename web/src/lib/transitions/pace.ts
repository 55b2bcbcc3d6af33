/** How fast the moves of a game are shown. */

/** `live` shows a move as soon as it is made and the previous disc has landed. */
export const PACES = ["slow", "normal", "fast", "live"] as const;
export type Pace = (typeof PACES)[number];

/** Milliseconds between moves. The minimum of `live` keeps a fast reply apart from the user's own disc. */
const EVERY_MS: Record<Pace, number> = { slow: 2_000, normal: 1_000, fast: 400, live: 400 };
/** A short rest before the next disc falls. */
const GAP_MS = 80;
/** If more moves than this are missing, `live` animates only the last one. */
const MAX_BEHIND = 2;

/** When the next move is due, given when the previous one was shown and when its disc comes to rest. */
export function dueAt(pace: Pace, shownAt: number, restsAt: number): number {
  return Math.max(shownAt + EVERY_MS[pace], restsAt + GAP_MS);
}

/** How many moves to show next. */
export function nextAt(pace: Pace, at: number, length: number): number {
  return pace === "live" && length - at > MAX_BEHIND ? length - 1 : Math.min(length, at + 1);
}
