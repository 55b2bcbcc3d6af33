/** What the server says of the lab, the arena and training. */

import type * as api from "./api";
import type { Player, Said, Setup, Told, Value } from "./types";

/** What a search found, and what it cost. */
export type Search = Said<api.SearchView, { value: Value }>;

export type NodeKind = "max" | "min" | "leaf" | "end" | "table";

/** A node of a search tree. Values are those of the player to move at the root: `+12`, `W2`, `L1`, `draw`, `62 %`. */
export type TreeNode = Told<
  api.NodeView,
  { parent: number | null; kind: NodeKind; value: string | null; bound: "exact" | "upper" | "lower"; column?: number; pass?: string; alpha?: string; beta?: string; visits?: number; cut?: api.CutView }
>;

/** Its walks are the simulated games: the last node of each, and its result for the player at the root. */
export type SearchTree = Said<api.TreeView, { value: Value; setup: Setup; nodes: TreeNode[] }>;

export type JobState = "queued" | "running" | "stopped" | "done" | "failed";

/** What the server works on for somebody: a tournament or a training run. */
export interface Job {
  state: JobState;
  mine: boolean;
  done: number;
  total: number;
  error: string | null;
}

export type Entrant = Said<api.EntrantInput, { name: string }>;

/** What a tournament is to be. */
export type TournamentPlan = Told<api.TournamentInput, { format: "round-robin" | "gauntlet"; players: Entrant[]; openings?: string; seed: number; setup: Setup }>;

export interface Results {
  won: number;
  drawn: number;
  lost: number;
}

export interface PlayerReport extends Results {
  name: string;
  agent: string;
  elo: { low: number; middle: number; high: number };
  points: number;
  score: number | null;
  begun: Results;
  moves: number;
  ms_per_move: number;
  nodes_per_move: number;
  lost_on_time: number;
  forfeited: number;
}

/** What the games of a tournament say, the strongest player first. */
export interface Report {
  games: number;
  planned: number;
  players: PlayerReport[];
  head_to_head: Results[][];
  first_player: Results;
  first_player_score: number | null;
  distinct: number;
  repeated: number;
  lengths: { moves: number; games: number }[];
}

/** A game of a tournament that is being played. */
export type LiveBoard = Said<api.BoardView, { players: [string, string]; first: Player }>;

export type Played = Said<api.PlayedView, { players: [string, string]; first: Player; winner: Player | null }>;

export type Tournament = Said<api.TournamentView, { state: JobState; plan: TournamentPlan; report: Report | null; boards: LiveBoard[] }>;

export type TournamentSummary = Said<api.TournamentSummary, { state: JobState }>;

/** Done and total are the seconds worked, and to be worked. */
export type RunSummary = Said<api.RunSummary, { state: JobState; setup: Setup }>;

export type TrainingInfo = Said<api.TrainingView, { runs: RunSummary[] }>;

/** What an iteration of a training run did. */
export interface Iteration {
  iteration: number;
  best: number;
  games: number;
  samples: number;
  evaluations: number;
  seconds: number;
  self_play_seconds: number;
  learning_seconds: number;
  test_seconds: number;
  buffer: number;
  results: [number, number, number];
  moves_per_game: number;
  rate: number;
  policy_loss: number;
  value_loss: number;
  gate: { wins: number; draws: number; losses: number } | null;
  exam: { policy_error: number; search_error: number; value_error: number } | null;
}

export type TrainingRun = Said<
  api.RunView,
  {
    state: JobState;
    setup: Setup;
    plan: { preset: string; minutes: number; seed: number };
    stage: Said<api.StageView, { kind: "preparing" | "playing" | "learning" | "testing" }> | null;
    history: Iteration[];
  }
>;

export type { ShownGame } from "./api";
