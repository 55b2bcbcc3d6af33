/** Sample game views for the tests in this folder. */

import { en } from "../i18n/en";
import type { GameView, Move, Player, Seated } from "../types";

export const colours = ["Red", "Yellow"] as const;
export const t = en;

export function seated(changes: Partial<Seated> = {}): Seated {
  return { kind: "human", name: "Guest", agent: null, you: true, connected: true, away_ms: null, time_ms: 0, ...changes };
}

export const agent: Seated = seated({ kind: "agent", agent: "level:3", you: false });
export const stranger: Seated = seated({ you: false, name: "Ada" });

/** The user's game as red against level 3, with these columns played. */
export function view(columns: number[] = [], changes: Partial<GameView> = {}): GameView {
  const heights = new Map<number, number>();
  const moves: Move[] = columns.map((column, index) => {
    const row = (heights.get(column) ?? 0) + 1;
    heights.set(column, row);
    return { column, row, player: (index % 2) as Player, ms: 100 };
  });
  return {
    id: "g1",
    version: columns.length,
    created: 0,
    setup: { cols: 7, rows: 6, connect: 4, ruleset: "standard" },
    players: [seated(), agent],
    first: 0,
    status: "playing",
    moves,
    ply: moves.length,
    opening: 0,
    undone: 0,
    to_move: (columns.length % 2) as Player,
    legal: [1, 2, 3, 4, 5, 6, 7],
    scores: [0, 0],
    lines: [],
    result: null,
    clock: null,
    offers: { draw: null, undo: null, rematch: null },
    rematch: null,
    watchers: 0,
    thinking: null,
    away_limit_ms: null,
    mine: true,
    listed: false,
    ...changes,
  };
}
