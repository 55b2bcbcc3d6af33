/** Server calls of the lab, the arena, training and the fleet. */

import { call, patientCall } from "./server";
import type { Setup } from "./types";
import type { FleetInfo, PlayedGame, Search, SearchTree, ShownGame, Tournament, TournamentSummary, TrainingInfo, TrainingRun } from "./types-research";

export const lab = {
  tree: (setup: Setup, moves: string, agent: string, signal: AbortSignal) =>
    patientCall<SearchTree>("POST", "/api/lab/tree", { setup, moves, agent }, signal),
  search: (setup: Setup, moves: string, agent: string, signal: AbortSignal) =>
    patientCall<Search>("POST", "/api/lab/search", { setup, moves, agent }, signal),
};

const tournament = (id: string, part = ""): string => `/api/arena/${encodeURIComponent(id)}${part && `/${part}`}`;

export const arena = {
  list: () => call<TournamentSummary[]>("GET", "/api/arena"),
  create: (plan: object) => call<Tournament>("POST", "/api/arena", plan),
  show: (id: string) => call<Tournament>("GET", tournament(id)),
  games: (id: string, before: number | null) => call<PlayedGame[]>("GET", `${tournament(id, "games")}?limit=24${before === null ? "" : `&before=${before}`}`),
  /** A game by its number, or null if it has not ended. */
  game: async (id: string, number: number): Promise<PlayedGame | null> => {
    const games = await call<PlayedGame[]>("GET", `${tournament(id, "games")}?limit=1&before=${number + 1}`);
    return games.find((game) => game.number === number) ?? null;
  },
  stop: (id: string) => call<Tournament>("POST", tournament(id, "stop"), {}),
  resume: (id: string) => call<Tournament>("POST", tournament(id, "resume"), {}),
  remove: (id: string) => call<void>("DELETE", tournament(id)),
  downloadUrl: (id: string, format: "json" | "csv" | "games") => `${tournament(id, "download")}?format=${format}`,
};

const run = (id: string, part = ""): string => `/api/training/${encodeURIComponent(id)}${part && `/${part}`}`;

export const training = {
  info: () => call<TrainingInfo>("GET", "/api/training"),
  create: (plan: { title: string; preset: string; minutes: number; seed: number; setup: Setup }) => call<TrainingRun>("POST", "/api/training", plan),
  show: (id: string) => call<TrainingRun>("GET", run(id)),
  games: (id: string) => call<ShownGame[]>("GET", run(id, "games")),
  stop: (id: string) => call<TrainingRun>("POST", run(id, "stop"), {}),
  resume: (id: string, minutes?: number) => call<TrainingRun>("POST", run(id, "resume"), minutes === undefined ? {} : { minutes }),
  remove: (id: string) => call<void>("DELETE", run(id)),
};

export const fleet = {
  show: () => call<FleetInfo>("GET", "/api/fleet"),
};

/** Offers a text as a file for download. */
export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The download has started by then.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
