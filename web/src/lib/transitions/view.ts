/** Facts derived from a game's view: which of two views is newer, whose turn it is, what the user may do. */

import type { GameView, Player } from "../types";
import type { Pending } from "./position";

/** The newer of two views, because responses and broadcasts can overtake each other. */
export function apply(current: GameView | null, incoming: GameView): GameView {
  if (!current || current.id !== incoming.id) return incoming;
  return incoming.version >= current.version ? incoming : current;
}

/** A move stays pending only while the game is still at the same ply. */
export function stillPending(pending: Pending | null, view: GameView): Pending | null {
  return pending && view.status === "playing" && view.moves.length === pending.ply ? pending : null;
}

/** The game as it was after `ply` moves; presence and offers stay as they are. */
export function asOf(view: GameView, ply: number): GameView {
  const over = view.status === "finished" && ply >= view.moves.length;
  const status = over ? "finished" : view.status === "finished" ? "playing" : view.status;
  const toMove = status === "playing" ? ((view.first + ply) % 2 as Player) : null;
  return { ...view, moves: view.moves.slice(0, ply), status, to_move: toMove, result: over ? view.result : null };
}

export interface Rights {
  /** It is the user's turn. */
  move: boolean;
  undo: boolean;
  redo: boolean;
  hint: boolean;
  resign: boolean;
  draw: boolean;
  rematch: boolean;
  /** There is an open seat to take. */
  join: boolean;
}

export function rights(view: GameView): Rights {
  const playing = view.status === "playing";
  const two = opponentIsPerson(view);
  const turn = view.to_move !== null && isYou(view, view.to_move);
  const seated = isYou(view, 0) || isYou(view, 1);
  const ownMoves = view.moves.slice(view.opening).some((move) => isYou(view, move.player));
  return {
    move: playing && turn,
    undo: ownMoves && (!two || playing) && canTakeBack(view),
    redo: seated && view.undone > 0 && !two,
    hint: playing && turn && !two,
    resign: playing && seated,
    draw: playing && two && view.moves.length > 0,
    rematch: view.status === "finished" && view.mine,
    join: view.status === "waiting" && !view.mine && view.players.some((player) => player.kind === "open"),
  };
}

/** Whether moves can be taken back: not in a game that ended by resignation, time or agreement. */
function canTakeBack(view: GameView): boolean {
  return view.status === "playing" || ["line", "board-full"].includes(view.result?.reason ?? "");
}

export function isYou(view: GameView, player: Player): boolean {
  const seat = view.players[player];
  return seat.you && seat.kind === "human";
}

/** The user's seat, if there is exactly one. */
export function yourSeat(view: GameView): Player | null {
  const seats = ([0, 1] as const).filter((player) => isYou(view, player));
  return seats.length === 1 ? (seats[0] ?? null) : null;
}

/** Both seats are the user's: a local game. */
export function isLocalGame(view: GameView): boolean {
  return isYou(view, 0) && isYou(view, 1);
}

/** The opponent is a person at another device. */
export function opponentIsPerson(view: GameView): boolean {
  const seat = yourSeat(view);
  return seat !== null && view.players[other(seat)].kind !== "agent";
}

/** Whether nobody else has a seat in the user's game: only then may they list it publicly. */
export function isAlone(view: GameView): boolean {
  return view.mine && view.players.every((player) => player.kind !== "human" || player.you);
}

export function other(player: Player): Player {
  return player === 0 ? 1 : 0;
}

/** The player shown below the board: the user, or else the first player. */
export function nearPlayer(view: GameView): Player {
  return yourSeat(view) ?? 0;
}

/** An offer that the user has to answer. */
export function offerToAnswer(view: GameView): "draw" | "undo" | "rematch" | null {
  const seat = yourSeat(view);
  if (seat === null) return null;
  const from = other(seat);
  if (view.offers.draw === from) return "draw";
  if (view.offers.undo === from) return "undo";
  if (view.offers.rematch === from && !view.rematch) return "rematch";
  return null;
}
