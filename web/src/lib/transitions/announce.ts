/** What is announced when a game changes: new moves, the result, players who join or leave. */

import type { Colours, Texts } from "../i18n/en";
import type { GameView, Player } from "../types";
import { isLocalGame, isYou, other, yourSeat } from "./view";

export function announce(before: GameView | null, now: GameView, colours: Colours, t: Texts): string {
  if (!before || before.id !== now.id) return "";
  const parts: string[] = [];
  for (const player of [0, 1] as const) {
    const [was, is] = [before.players[player], now.players[player]];
    const name = playerName(now, player, colours, t);
    if (was.kind === "open" && is.kind === "human") parts.push(t.game.joined(name));
    else if (is.kind === "human" && !is.you && was.connected && !is.connected) parts.push(t.game.left(name));
    else if (is.kind === "human" && !is.you && was.away_ms !== null && is.connected) parts.push(t.game.back(name));
  }
  const kept = commonMoves(before, now);
  const news = now.moves.slice(kept);
  if (before.moves.length > kept) parts.push(t.game.takenBack);
  for (const { player, column, row } of news) parts.push(t.game.moved(colours[player], column, row));
  if (now.result && !before.result) parts.push(resultText(now, colours, t) + ".");
  else if (now.to_move !== null && (news.length > 0 || before.moves.length > kept || before.status !== now.status)) {
    parts.push(t.game.toMove(colours[now.to_move]));
  }
  return parts.join(" ");
}

/** What is announced and shown briefly when an offer is made, declined or withdrawn. */
export function announceOffers(before: GameView | null, now: GameView, colours: Colours, t: Texts): string {
  const seat = yourSeat(now);
  if (!before || seat === null || now.rematch) return "";
  const name = playerName(now, other(seat), colours, t);
  for (const kind of ["draw", "undo", "rematch"] as const) {
    const [was, is] = [before.offers[kind], now.offers[kind]];
    if (was === is) continue;
    if (is !== null) return is === seat ? t.play.offerSent[kind] : t.game.offers[kind](name);
    // A move, a takeback or the end of the game answers the offer by itself.
    if (now.moves.length < before.moves.length && kind === "undo") return was === seat ? t.play.takebackAccepted : "";
    if (now.moves.length !== before.moves.length || (kind !== "rematch" && now.status === "finished")) continue;
    return was === seat ? t.play.offerDeclined[kind](name) : t.play.youDeclined[kind];
  }
  return "";
}

/** What is announced when the user steps through the game. */
export function announceStep(view: GameView, ply: number, colours: Colours, t: Texts): string {
  const move = view.moves[ply - 1];
  return move ? t.play.afterMove(ply, view.moves.length, t.game.moved(colours[move.player], move.column, move.row)) : t.play.start;
}

/** "You won: four in a row", "Level 3 won: opponent resigned", "Draw: by agreement". */
export function resultText(view: GameView, colours: Colours, t: Texts): string {
  return view.result ? `${resultHeadline(view, colours, t)}: ${resultReason(view, t)}` : "";
}

/** "four in a row", "by agreement". */
export function resultReason(view: GameView, t: Texts): string {
  const { result } = view;
  const seat = yourSeat(view);
  return result ? t.game.reason(result, view.setup, seat !== null && result.winner === other(seat)) : "";
}

/** "You won", "Draw". */
export function resultHeadline(view: GameView, colours: Colours, t: Texts): string {
  const winner = view.result?.winner ?? null;
  if (winner === null) return t.game.draw;
  const seat = yourSeat(view);
  if (seat === null) return t.game.won(isYou(view, winner) ? colours[winner] : playerName(view, winner, colours, t));
  return seat === winner ? t.game.youWon : t.game.youLost;
}

export function playerName(view: GameView, player: Player, colours: Colours, t: Texts): string {
  const seat = view.players[player];
  if (seat.kind === "open") return t.openSeat;
  if (seat.kind === "agent") return seat.agent ? t.agent(seat.agent) : seat.name;
  if (yourSeat(view) === player) return t.you;
  // A local game, seen from another screen.
  const sameName = view.players[0].name === view.players[1].name;
  return isLocalGame(view) || sameName ? colours[player] : seat.name || colours[player];
}

/** How many moves from the start two views share. */
function commonMoves(a: GameView, b: GameView): number {
  let same = 0;
  while (same < a.moves.length && same < b.moves.length && a.moves[same]?.column === b.moves[same]?.column) same++;
  return same;
}
