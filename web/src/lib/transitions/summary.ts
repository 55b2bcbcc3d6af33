/** A saved game in a few words. */

import { day, timeOfDay } from "../i18n/format";
import type { Colours, Texts } from "../i18n/en";
import type { GameSummary, Player } from "../types";

export function summaryName({ players }: GameSummary, player: Player, colours: Colours, t: Texts): string {
  const seat = players[player];
  if (seat.kind === "agent") return seat.agent ? t.agent(seat.agent) : seat.name;
  if (seat.kind === "open") return t.openSeat;
  const both = (players[0].you && players[1].you) || players[0].name === players[1].name;
  if (both) return colours[player];
  return seat.you ? t.you : seat.name || colours[player];
}

export function outcomeText(summary: GameSummary, colours: Colours, t: Texts): string {
  if (summary.status === "waiting") return t.history.waiting;
  if (!summary.result) return t.history.playing;
  const { winner } = summary.result;
  const { players } = summary;
  const yours = ([0, 1] as const).filter((player) => players[player].you);
  const lost = winner !== null && yours.length === 1 && yours[0] !== winner;
  const reason = t.game.reason(summary.result, summary.setup, lost);
  if (winner === null) return `${t.game.draw}: ${reason}`;
  if (yours.length === 1) return `${lost ? t.game.youLost : t.game.youWon}: ${reason}`;
  return `${t.game.won(colours[winner])}: ${reason}`;
}

/** The day, or the time if it was today. */
export function dateText(created: number, now = new Date()): string {
  const date = new Date(created);
  if (Number.isNaN(date.getTime())) return "";
  return date.toDateString() === now.toDateString() ? timeOfDay(date) : day(date);
}
