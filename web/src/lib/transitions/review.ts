/** A reviewed game: its evaluation after each move, and the mistakes to learn from. */

import { percent as shareText } from "../i18n/format";
import type { Player } from "../types";
import type { Certainty, Choice, Review, ReviewMove } from "../types-study";

/** The evaluation after some moves. */
export interface PlyEvaluation extends Certainty {
  ply: number;
  /** Who moved last; values are from this player's point of view. */
  player: Player;
  /** Who wins with best play; `null` for a draw, `undefined` if it is not known. */
  winner: Player | null | undefined;
  /** From -1 (player 1 has won) to 1 (player 0 has won). */
  height: number;
}

/** The evaluations at the start and after every move. */
export function evaluations({ moves, first, setup }: Pick<Review, "moves" | "first" | "setup">): PlyEvaluation[] {
  const cells = setup.cols * setup.rows;
  return [
    evaluation(0, moves[0]?.best ?? null, first, cells),
    ...moves.map(({ played, player }, index) => evaluation(index + 1, played && after(played), player, cells)),
  ];
}

/** What is known about a move after it was made: its own disc is no longer counted. */
function after(choice: Choice): Choice {
  const { value } = choice;
  const counts = value?.kind === "win" || value?.kind === "loss";
  return { ...choice, value: value && counts ? { ...value, number: value.number - 1 } : value };
}

function evaluation(ply: number, choice: Choice | null, player: Player, cells: number): PlyEvaluation {
  const { value, at_least, at_most, no_loss_within } = choice ?? { value: null, at_least: -1, at_most: 1, no_loss_within: 0 };
  const certain = { ply, player, value, at_least, at_most, no_loss_within };
  if (at_least !== at_most) return { ...certain, winner: undefined, height: 0 };
  const winner = at_least === 0 ? null : at_least > 0 ? player : ((1 - player) as Player);
  const reach = !value ? 0.5 : value.kind === "lines" ? 0.35 + 0.65 * Math.tanh(Math.abs(value.number) / 4) : 0.35 + 0.65 * Math.max(0, 1 - value.number / (cells - ply || 1));
  return { ...certain, winner, height: winner === null ? 0 : winner === 0 ? reach : -reach };
}

export function isError({ judgement }: ReviewMove): boolean {
  return judgement === "mistake" || judgement === "blunder";
}

/** The mistakes to learn from, as indices of moves, of one player or of both. Opening moves do not count. The fastest losses come
    first, because they are the easiest to see. */
export function errorsOf({ moves, opening }: Pick<Review, "moves" | "opening">, player: Player | null): number[] {
  const errors = moves.flatMap((move, index) => (index >= opening && isError(move) && (player === null || move.player === player) ? [index] : []));
  return errors.sort((a, b) => exerciseLength(moves[a]!) - exerciseLength(moves[b]!) || a - b);
}

/** The number of plies to look ahead: to the loss that the move allowed, or to the win that it missed. */
export function exerciseLength({ played, best }: Pick<ReviewMove, "played" | "best">): number {
  const plies = (choice: Choice | null, kind: "win" | "loss"): number | null => (choice?.value?.kind === kind ? choice.value.number : null);
  return plies(played, "loss") ?? plies(best, "win") ?? Number.MAX_SAFE_INTEGER;
}

/** Judges a column chosen in an exercise. */
export function judgeAnswer({ choices, best }: Pick<ReviewMove, "choices" | "best">, column: number): { verdict: "right" | "slower" | "wrong" | "unsure"; choice: Choice | null } {
  const choice = choices.find((one) => one.column === column) ?? null;
  if (!choice || !best) return { verdict: "unsure", choice };
  if (choice.at_most < best.at_least) return { verdict: "wrong", choice };
  if (choice.at_least < best.at_least) return { verdict: "unsure", choice };
  const isBest = !best.value || (choice.value?.kind === best.value.kind && choice.value.number === best.value.number);
  return { verdict: isBest ? "right" : "slower", choice };
}

/** The mistake that decided the game: from then on, best play always led to the result of the game. */
export function turningPoint({ moves, opening }: Pick<Review, "moves" | "opening">, all: PlyEvaluation[], result: Player | null): { ply: number; before: Player | null } | null {
  for (let ply = moves.length; ply > opening; ply--) {
    const [before, now] = [all[ply - 1]?.winner, all[ply]?.winner];
    // The result of the last move is that of the game.
    if (before === undefined || (now === undefined && ply < moves.length)) return null;
    if (before !== result) return isError(moves[ply - 1]!) ? { ply, before } : null;
  }
  return null;
}

/** How many moves of a player, or of both, were made and judged. */
export function judgedOf({ players }: Pick<Review, "players">, player: Player | null): { judged: number; moves: number } {
  const wanted = player === null ? players : [players[player]];
  return { judged: wanted.reduce((sum, one) => sum + one.judged, 0), moves: wanted.reduce((sum, one) => sum + one.moves, 0) };
}

/** The side of the board a column is on, for a hint that does not give it away. */
export function sideOf(column: number, cols: number): "left" | "middle" | "right" {
  const middle = (cols + 1) / 2;
  if (Math.abs(column - middle) < cols / 6 + 0.01) return "middle";
  return column < middle ? "left" : "right";
}

/** Accuracy as text. */
export function percent(share: number): string {
  return shareText(share, 1);
}
