/** From the tournament form to the server's request, and the presentation of its results. */

import { t } from "../i18n";
import type { Setup } from "../types";
import type { Entrant, Results, TournamentPlan } from "../types-research";

export interface ArenaForm {
  title: string;
  format: TournamentPlan["format"];
  players: Entrant[];
  games: number;
  openings: string;
  seed: number;
  setup: Setup;
}

export const MAX_PLAYERS = 12;
/** The server's limit for names, minus room for a number. */
const MAX_NAME_LENGTH = 55;
const MAX_TITLE_LENGTH = 60;

/** How many games a tournament has. */
export function gamesOf({ format, players, games }: Pick<ArenaForm, "format" | "players" | "games">): number {
  const n = players.length;
  return (format === "gauntlet" ? Math.max(0, n - 1) : (n * (n - 1)) / 2) * games;
}

/** The players' names: as typed, or else the agent, with numbers if several are the same. */
export function namesOf(players: Entrant[], name: (agent: string) => string): string[] {
  const short = (text: string): string => (text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH - 1)}…` : text);
  const wanted = players.map((player) => short(player.name.trim() || name(player.agent)));
  return wanted.map((text, index) => {
    const before = wanted.slice(0, index).filter((other) => other === text).length;
    return before === 0 ? text : `${text} (${before + 1})`;
  });
}

/** The default title of a tournament: "Level 3 vs. Alpha-beta", "Level 3, Alpha-beta and 4 more". */
export function titleOf(names: string[]): string {
  const [first = "", second = ""] = names;
  const whole = names.length === 2 ? t.history.versus(first, second) : names.join(", ");
  if (whole.length <= MAX_TITLE_LENGTH) return whole;
  const several = names.length === 2 ? whole : t.research.arena.several(first, names.length - 1);
  return several.length <= MAX_TITLE_LENGTH ? several : `${several.slice(0, MAX_TITLE_LENGTH - 1)}…`;
}

export function planOfForm(form: ArenaForm, name: (agent: string) => string): object {
  const names = namesOf(form.players, name);
  const plan = {
    format: form.format,
    players: form.players.map((player, index) => ({ agent: player.agent, name: names[index]! })),
    games: form.games,
    seed: form.seed,
    setup: form.setup,
    title: form.title.trim() || titleOf(names),
  };
  return form.openings ? { ...plan, openings: form.openings } : plan;
}

/** Points and games, as in a cell of the cross table. */
export function crossText({ won, drawn, lost }: Results): string {
  const games = won + drawn + lost;
  if (games === 0) return "–";
  return `${halves(won + drawn / 2)} / ${games}`;
}

/** Points with halves: 3, 3½, ½. */
export function halves(points: number): string {
  const whole = Math.floor(points);
  return points === whole ? String(whole) : `${whole || ""}½`;
}

/** The share of the points, from 0 to 1. */
export function share({ won, drawn, lost }: Results): number | null {
  const games = won + drawn + lost;
  return games === 0 ? null : (won + drawn / 2) / games;
}
