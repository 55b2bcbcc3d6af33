/** How quickly the moves of a game are shown one after another. */

/** `live` shows a move as soon as it is made, once the disc before it has landed. */
export const PACES = ["slow", "normal", "fast", "live"] as const;
export type Pace = (typeof PACES)[number];

/** Milliseconds from one move to the next. The floor of `live` keeps a quick reply from falling on top of one's own disc. */
const EVERY_MS: Record<Pace, number> = { slow: 2_000, normal: 1_000, fast: 400, live: 400 };
/** A disc lies still for a moment before the next one falls. */
const GAP_MS = 80;
/** Further behind than this, `live` shows no disc falling but the last. */
const MAX_BEHIND = 2;

/** When the next move is due, where the one before it was shown and its disc comes to rest at these times. */
export function dueAt(pace: Pace, shownAt: number, restsAt: number): number {
  return Math.max(shownAt + EVERY_MS[pace], restsAt + GAP_MS);
}

/** How many moves to show next, of those that are there. */
export function nextAt(pace: Pace, at: number, length: number): number {
  return pace === "live" && length - at > MAX_BEHIND ? length - 1 : Math.min(length, at + 1);
}
