/** A judged game: how it stood after each move, and what can be learnt from it. */

import { percent as shareText } from "../i18n/format";
import type { Player } from "../types";
import type { Choice, Review, ReviewMove } from "../types-study";

/** How the game stood after some moves. */
export interface Standing {
  ply: number;
  /** Who wins with best play; `null` for a draw, nothing where it is not known. */
  winner: Player | null | undefined;
  /** From -1, player 1 has won, to 1, player 0 has won. */
  height: number;
  /** Discs until the win. */
  discs: number;
}

/** How the game stood at the start and after every move. */
export function standings({ moves, first, setup }: Pick<Review, "moves" | "first" | "setup">): Standing[] {
  const cells = setup.cols * setup.rows;
  const start = moves[0]?.best ? standing(0, moves[0].best, first, cells, 0) : unknown(0);
  return [
    start,
    ...moves.map(({ played, player }, index) => (played ? standing(index + 1, played, player, cells, index) : unknown(index + 1))),
  ];
}

function standing(ply: number, { score, value }: Choice, player: Player, cells: number, before: number): Standing {
  const winner = score === 0 ? null : score > 0 ? player : ((1 - player) as Player);
  const most = Math.floor((cells - before + 1) / 2) || 1;
  const reach = 0.35 + 0.65 * Math.min(1, Math.abs(score) / most);
  return { ply, winner, height: winner === null ? 0 : winner === 0 ? reach : -reach, discs: Number(/\d+/.exec(value)?.[0] ?? 0) };
}

function unknown(ply: number): Standing {
  return { ply, winner: undefined, height: 0, discs: 0 };
}

export function isError({ judgement }: ReviewMove): boolean {
  return judgement === "mistake" || judgement === "blunder";
}

/** The moves to learn from, by their place in the game; those of one player or of both. Moves that were given are nobody's. */
export function errorsOf({ moves, opening }: Pick<Review, "moves" | "opening">, player: Player | null): number[] {
  return moves.flatMap((move, index) => (index >= opening && isError(move) && (player === null || move.player === player) ? [index] : []));
}

/** What somebody says of a column when the move was to be found: whether it keeps the result, and what it is worth. */
export function tried({ choices, best }: ReviewMove, column: number): { right: boolean; best: boolean; choice: Choice | null } {
  const choice = choices.find((one) => one.column === column) ?? null;
  const right = !!choice && !!best && Math.sign(choice.score) === Math.sign(best.score);
  return { right, best: right && choice.score === best.score, choice };
}

/** Where a column is, for a hint that does not give it away. */
export function sideOf(column: number, cols: number): "left" | "middle" | "right" {
  const middle = (cols + 1) / 2;
  if (Math.abs(column - middle) < cols / 6 + 0.01) return "middle";
  return column < middle ? "left" : "right";
}

/** Accuracy as people read it. */
export function percent(share: number): string {
  return shareText(share, 1);
}
