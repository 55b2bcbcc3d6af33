/** Times as text, and clocks that run between two messages of the server. */

import { decimal, whole } from "../i18n/format";
import type { GameView, Player } from "../types";

/** A player's remaining time `elapsed` milliseconds after the view arrived. */
export function remaining(view: GameView, player: Player, elapsed: number): number {
  const clock = view.clock;
  if (!clock) return 0;
  const left = clock.remaining_ms[player];
  return Math.max(0, clock.running === player ? left - elapsed : left);
}

/** A player's total thinking time `elapsed` milliseconds after the view arrived. */
export function thinkingTime(view: GameView, player: Player, elapsed: number): number {
  const running = view.status === "playing" && view.to_move === player;
  return view.players[player].time_ms + (running ? elapsed : 0);
}

/** `4:07`, `1:02:03`, with tenths below twenty seconds (`0:09.3`). */
export function clockText(ms: number, tenths = false): string {
  if (tenths && ms < 20_000) {
    const tenth = Math.ceil(ms / 100);
    return `0:${String(Math.floor(tenth / 10)).padStart(2, "0")}.${tenth % 10}`;
  }
  const seconds = tenths ? Math.ceil(ms / 1000) : Math.floor(ms / 1000);
  const parts = [Math.floor(seconds / 60) % 60, seconds % 60].map((part) => String(part).padStart(2, "0"));
  const hours = Math.floor(seconds / 3600);
  return hours > 0 ? `${hours}:${parts.join(":")}` : parts.join(":").replace(/^0/, "");
}

/** `0.3 s`, `12 s`, `2 min 5 s`: how long a move took. */
export function durationText(ms: number): string {
  if (ms < 10) return "0 s";
  if (ms < 100) return `${decimal(ms / 1000, 2)} s`;
  if (ms < 9_950) return `${decimal(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `950`, `12.3 k`, `4.6 M`: a rounded count. */
export function countText(count: number): string {
  if (count < 10_000) return whole(count);
  if (count < 999_950) return `${decimal(count / 1e3)} k`;
  return count < 999_950_000 ? `${decimal(count / 1e6)} M` : `${decimal(count / 1e9)} G`;
}
