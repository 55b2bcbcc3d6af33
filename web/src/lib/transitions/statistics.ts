/** Data for the plots of the statistics page. */

import type { Statistics } from "../types-study";
import type { LessonId } from "./lessons";

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

/** How many of the last games count as recent. */
const RECENT = 20;

export interface Cost {
  theme: string;
  games: number;
  /** The number among the last `RECENT` games. */
  recent: number;
}

/** What the decisive mistakes were about, the most frequent first. */
export function costs(progress: Pick<Statistics["progress"][number], "theme">[]): Cost[] {
  const recent = progress.slice(-RECENT);
  const themes = [...new Set(progress.flatMap(({ theme }) => theme ?? []))];
  const count = (games: typeof recent, theme: string): number => games.filter((game) => game.theme === theme).length;
  return themes.map((theme) => ({ theme, games: count(progress, theme), recent: count(recent, theme) })).sort((a, b) => b.games - a.games || b.recent - a.recent || a.theme.localeCompare(b.theme));
}

/** The lesson about a theme. */
export const LESSON_OF: Record<string, LessonId> = {
  "win-now": "four",
  "must-block": "block",
  "opens-four": "below",
  "double-threat": "double",
  "stacked-threats": "stacked",
  "forcing-moves": "force",
  "odd-threat": "odd",
  "even-threat": "even",
  "no-safe-move": "zugzwang",
  "follow-up": "claimeven",
  "long-plan": "counting",
  "save-the-draw": "draw",
};

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
