/** The delay before the next attempt to reconnect. */

const FIRST_MS = 400;
const MOST_MS = 8_000;

/** Doubles with each failure; `random` in 0..1 spreads clients that lost the server at the same time. */
export function backoff(failures: number, random: number): number {
  const full = Math.min(MOST_MS, FIRST_MS * 2 ** Math.max(0, failures - 1));
  return Math.round(full * (0.75 + 0.5 * random));
}
