/** What is read out when a game changes: the moves made since, the result, who comes and goes. */

import type { Colours, Texts } from "../i18n/en";
import type { GameView, Player } from "../types";
import { atOneScreen, isYou, other, yourSeat } from "./view";

export function announce(before: GameView | null, now: GameView, colours: Colours, t: Texts): string {
  if (!before || before.id !== now.id) return "";
  const parts: string[] = [];
  for (const player of [0, 1] as const) {
    const [was, is] = [before.players[player], now.players[player]];
    const name = playerName(now, player, colours, t);
    if (was.kind === "open" && is.kind === "human") parts.push(t.game.joined(name));
    else if (is.kind === "human" && !is.you && was.connected && !is.connected) parts.push(t.game.left(name));
    else if (is.kind === "human" && !is.you && !was.connected && is.connected) parts.push(t.game.back(name));
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

/** "You won with a line", "Level 3 won on time", "Draw by agreement". */
export function resultText(view: GameView, colours: Colours, t: Texts): string {
  if (!view.result) return "";
  const comma = view.result.winner === null && view.result.reason === "board-full" ? "," : "";
  return `${resultHeadline(view, colours, t)}${comma} ${resultReason(view, t)}`;
}

/** "with a line", "on time". */
export function resultReason(view: GameView, t: Texts): string {
  const { result } = view;
  const seat = yourSeat(view);
  return result ? t.game.reason(result, view.setup.ruleset, seat !== null && result.winner === other(seat)) : "";
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
  if (seat.kind === "open") return t.anybody;
  if (seat.kind === "agent") return seat.agent ? t.agent(seat.agent) : seat.name;
  if (yourSeat(view) === player) return t.you;
  if (atOneScreen(view)) return colours[player];
  return seat.name || colours[player];
}

/** How many moves from the start two views share. */
function commonMoves(a: GameView, b: GameView): number {
  let same = 0;
  while (same < a.moves.length && same < b.moves.length && a.moves[same]?.column === b.moves[same]?.column) same++;
  return same;
}
