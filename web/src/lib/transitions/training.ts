/** Figures derived from the metrics of a training run. */

import type { Iteration } from "../types-research";
import type { Point, Series } from "./chart";

type Gate = NonNullable<Iteration["gate"]>;

/** The share of points in a gate match. */
export function gateShare({ wins, draws, losses }: Gate): number {
  const games = wins + draws + losses;
  return games === 0 ? 0.5 : (wins + draws / 2) / games;
}

/** The Elo difference for a share of the points; a clean sweep counts as if half a point had been lost. */
export function eloOfShare(share: number, games: number): number {
  const margin = 0.5 / Math.max(1, games);
  const kept = Math.min(1 - margin, Math.max(margin, share));
  return 400 * Math.log10(kept / (1 - kept));
}

/** The rating of each network that played a gate match, relative to the first; each match is against the best network so far. */
export function ratings(history: Iteration[]): Point[] {
  let best = 0;
  const points: Point[] = history[0] ? [{ x: history[0].iteration, y: 0 }] : [];
  for (const { iteration, gate, best: now } of history) {
    if (!gate) continue;
    const rating = best + eloOfShare(gateShare(gate), gate.wins + gate.draws + gate.losses);
    points.push({ x: iteration, y: Math.round(rating) });
    if (now === iteration) best = rating;
  }
  return points;
}

/** Self-play games per second in each iteration. */
export function speeds(history: Iteration[]): Point[] {
  return history.map(({ iteration, results, self_play_seconds: seconds }) => ({
    x: iteration,
    y: Number((results.reduce((a, b) => a + b, 0) / Math.max(seconds, 1e-6)).toPrecision(3)),
  }));
}

export function series(name: string, history: Iteration[], value: (one: Iteration) => number | null | undefined): Series {
  return { name, points: history.flatMap((one) => (value(one) == null ? [] : [{ x: one.iteration, y: value(one)! }])) };
}

/** A time such as 4:05 or 2:04:05. */
export function timeText(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  const two = (n: number): string => String(n).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
