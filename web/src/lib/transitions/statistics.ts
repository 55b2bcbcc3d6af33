/** Data for the plots of the statistics page. */

import type { Statistics } from "../types-study";

export interface Trend {
  /** The number of the game, from 1. */
  game: number;
  score: number;
  accuracy: number | null;
}

/** Moving averages of points, and of accuracy where it is known. */
export function trend(progress: Statistics["progress"], window = 10): Trend[] {
  return progress.map((_, index) => {
    const last = progress.slice(Math.max(0, index + 1 - window), index + 1);
    const known = last.flatMap(({ accuracy }) => (accuracy === null ? [] : [accuracy]));
    return { game: index + 1, score: mean(last.map(({ points }) => points)), accuracy: known.length > 0 ? mean(known) : null };
  });
}

function mean(numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / (numbers.length || 1);
}

/** A path through points, with gaps where there are none; both axes from 0 to 1. */
export function path(values: (number | null)[], width: number, height: number): string {
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let pen = "M";
  return values
    .map((value, index) => {
      if (value === null) {
        pen = "M";
        return "";
      }
      const text = `${pen}${round(index * step)} ${round(height * (1 - value))}`;
      pen = "L";
      return text;
    })
    .join("");
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}

/** Game lengths in bins of a few moves, without gaps between the first and the last. */
export function bins(lengths: Statistics["lengths"], size: number): { from: number; to: number; games: number }[] {
  if (lengths.length === 0) return [];
  const place = (moves: number): number => Math.floor((moves - 1) / size);
  const places = lengths.map(({ moves }) => place(moves));
  const [first, last] = [Math.min(...places), Math.max(...places)];
  return Array.from({ length: last - first + 1 }, (_, index) => {
    const at = first + index;
    const games = lengths.filter(({ moves }) => place(moves) === at).reduce((sum, one) => sum + one.games, 0);
    return { from: at * size + 1, to: (at + 1) * size, games };
  });
}
