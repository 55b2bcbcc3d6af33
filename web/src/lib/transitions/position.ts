/** The board at any ply of a game. It knows no rules except that discs fall. */

import type { Cell, GameView, Move, Player, Setup } from "../types";

export interface Disc {
  column: number;
  row: number;
  player: Player;
  /** The number of the move that placed it, from 1. */
  ply: number;
}

/** A move that the user has made and the server has not confirmed yet. */
export interface Pending {
  column: number;
  ply: number;
  player: Player;
}

export interface Shown {
  discs: Disc[];
  /** The number of discs in each column, at index `column - 1`. */
  heights: number[];
  last: Disc | null;
  /** Winning rows whose discs are all on the board. */
  lines: { player: Player; cells: Cell[] }[];
  scores: [number, number];
}

/** The board after `ply` moves, the last of which may be pending. */
export function shown(view: Pick<GameView, "setup" | "moves" | "lines">, ply: number, pending: Pending | null): Shown {
  const discs = discsOf(view.moves.slice(0, ply));
  const heights = heightsOf(view.setup.cols, discs);
  if (pending && pending.ply === view.moves.length && ply > pending.ply) {
    const row = (heights[pending.column - 1] ?? 0) + 1;
    if (row <= view.setup.rows) {
      discs.push({ column: pending.column, row, player: pending.player, ply });
      heights[pending.column - 1] = row;
    }
  }
  const owner = new Map(discs.map((disc) => [key(disc.column, disc.row), disc.player]));
  const lines: Shown["lines"] = [];
  const scores: [number, number] = [0, 0];
  for (const cells of view.lines) {
    const [first] = cells;
    const player = first && owner.get(key(...first));
    if (player === undefined || !cells.every((cell) => owner.get(key(...cell)) === player)) continue;
    lines.push({ player, cells });
    scores[player] += 1;
  }
  return { discs, heights, last: discs.at(-1) ?? null, lines, scores };
}

/** The discs of a game given by its move text: `1`-`9`, then `a`-`z`. Full and unknown columns are skipped. */
export function discsOfText(text: string, first: Player, setup: Setup): Disc[] {
  const heights = new Array<number>(setup.cols).fill(0);
  const discs: Disc[] = [];
  for (const letter of text) {
    const column = columnOfLetter(letter);
    const row = (heights[column - 1] ?? setup.rows) + 1;
    if (row > setup.rows) continue;
    heights[column - 1] = row;
    discs.push({ column, row, player: ((first + discs.length) % 2) as Player, ply: discs.length + 1 });
  }
  return discs;
}

/** A board given by its move text, with the row that its last disc completed. */
export function shownText(text: string, first: Player, setup: Setup): Shown {
  const discs = discsOfText(text, first, setup);
  return { discs, heights: heightsOf(setup.cols, discs), last: discs.at(-1) ?? null, lines: winningRows(discs, setup), scores: [0, 0] };
}

/** The rows that the last disc completed, if four in a row wins. */
function winningRows(discs: Disc[], { connect, ruleset }: Setup): Shown["lines"] {
  const last = discs.at(-1);
  if (!last || ruleset !== "standard") return [];
  const { player } = last;
  const own = new Set(discs.filter((disc) => disc.player === player).map((disc) => key(disc.column, disc.row)));
  const ways = [[1, 0], [0, 1], [1, 1], [1, -1]] as const;
  return ways.flatMap(([right, up]) => {
    let [column, row] = [last.column, last.row];
    while (own.has(key(column - right, row - up))) [column, row] = [column - right, row - up];
    const cells: Cell[] = [];
    for (; own.has(key(column, row)); [column, row] = [column + right, row + up]) cells.push([column, row]);
    return cells.length >= connect ? [{ player, cells }] : [];
  });
}

/** The column of a letter of move text, or 0. */
export function columnOfLetter(letter: string): number {
  const column = /^[0-9a-z]$/.test(letter) ? Number.parseInt(letter, 36) : 0;
  return column;
}

export function letterOfColumn(column: number): string {
  return column.toString(36);
}

export function moveText(moves: Pick<Move, "column">[]): string {
  return moves.map((move) => letterOfColumn(move.column)).join("");
}

function discsOf(moves: Move[]): Disc[] {
  return moves.map(({ column, row, player }, index) => ({ column, row, player, ply: index + 1 }));
}

function heightsOf(cols: number, discs: Disc[]): number[] {
  const heights = new Array<number>(cols).fill(0);
  for (const { column, row } of discs) heights[column - 1] = Math.max(heights[column - 1] ?? 0, row);
  return heights;
}

function key(column: number, row: number): number {
  return column * 64 + row;
}
