/** Figures derived from what a fleet is doing. */

import type { Fleet } from "../types-research";
import type { Point } from "./chart";

/** The time range of the plots, in minutes. */
export const MINUTES = 5;

/** A series of the history; `x` is in minutes and negative, 0 is now. */
export function historyPoints(fleet: Pick<Fleet, "history" | "now">, value: (point: Fleet["history"][number]) => number): Point[] {
  const points = fleet.history.map((point) => ({ x: (point.at - fleet.now) / 60_000, y: value(point) }));
  return points.filter(({ x }) => x >= -MINUTES);
}

/** The address of the NATS server for other machines: a loopback address is replaced by `HOST`. */
export function addressForOthers(nats: string): string {
  return nats.replace(/(^|\/\/|,)(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)(?=[:,/]|$)/g, "$1HOST");
}

/** `12 s`, `4 min`, `3 h`, `2 d`: about how long something has taken. */
export function roughTime(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 90) return `${whole} s`;
  if (whole < 90 * 60) return `${Math.round(whole / 60)} min`;
  return whole < 48 * 3600 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86_400)} d`;
}
