/** Stepping through a game. A cursor is the number of moves shown; `null` follows the current position. */

export type Step = "first" | "back" | "forward" | "last";

export function step(cursor: number | null, moves: number, way: Step): number | null {
  const at = cursor ?? moves;
  switch (way) {
    case "first":
      return at === 0 || moves === 0 ? cursor : 0;
    case "back":
      return at > 0 ? at - 1 : cursor;
    case "forward":
      return goTo(at + 1, moves);
    case "last":
      return null;
  }
}

/** The cursor that shows the game after `ply` moves. */
export function goTo(ply: number, moves: number): number | null {
  return ply >= moves ? null : Math.max(0, ply);
}

/** The rows of a move list: a number and the plies of both players. */
export function pairs<T>(moves: T[]): { number: number; moves: [T, T | undefined] }[] {
  const rows: { number: number; moves: [T, T | undefined] }[] = [];
  for (let index = 0; index < moves.length; index += 2) {
    rows.push({ number: index / 2 + 1, moves: [moves[index] as T, moves[index + 1]] });
  }
  return rows;
}
