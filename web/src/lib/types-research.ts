/** Types of the lab, the arena, training and the fleet. */

import type * as api from "./api";
import type { Player, Complete, Setup, Narrowed, Value } from "./types";

/** The result of a search, and its cost. */
export type Search = Complete<api.SearchView, { value: Value }>;

export type NodeKind = "max" | "min" | "leaf" | "end" | "table";

/** A node of a search tree. Values are from the point of view of the player to move at the root: `+12`, `W2`, `L1`, `draw`, `62
    %`. */
export type TreeNode = Narrowed<
  api.NodeView,
  { parent: number | null; kind: NodeKind; value: string | null; bound: "exact" | "upper" | "lower"; column?: number; pass?: string; alpha?: string; beta?: string; visits?: number; cut?: api.CutView }
>;

/** Its playouts: the node that each started from, and its result for the player at the root. */
export type SearchTree = Complete<api.TreeView, { value: Value; setup: Setup; nodes: TreeNode[] }>;

export type JobState = "queued" | "running" | "stopped" | "done" | "failed";

/** A long-running job: a tournament or a training run. */
export interface Job {
  state: JobState;
  mine: boolean;
  done: number;
  total: number;
  error: string | null;
}

export type Entrant = Complete<api.EntrantInput, { name: string }>;

/** The description of a new tournament. */
export type TournamentPlan = Narrowed<api.TournamentInput, { format: "round-robin" | "gauntlet"; players: Entrant[]; openings?: string; seed: number; setup: Setup }>;

export interface Results {
  won: number;
  drawn: number;
  lost: number;
}

export interface PlayerReport extends Results {
  name: string;
  agent: string;
  elo: { low: number; estimate: number; high: number };
  points: number;
  score: number | null;
  moving_first: Results;
  moves: number;
  ms_per_move: number;
  nodes_per_move: number;
  lost_on_time: number;
  forfeited: number;
}

/** The results of a tournament, the strongest player first. */
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

/** A game in progress in a tournament. */
export type LiveBoard = Complete<api.BoardView, { players: [string, string]; first: Player }>;

export type PlayedGame = Complete<api.PlayedView, { players: [string, string]; first: Player; winner: Player | null }>;

export type Tournament = Complete<api.TournamentView, { state: JobState; plan: TournamentPlan; report: Report | null; workers: number | null; boards: LiveBoard[] }>;

export type TournamentSummary = Complete<api.TournamentSummary, { state: JobState }>;

/** `done` and `total` are seconds of training. */
export type RunSummary = Complete<api.RunSummary, { state: JobState; setup: Setup }>;

export type TrainingInfo = Complete<api.TrainingView, { runs: RunSummary[] }>;

/** The metrics of one iteration of a training run. */
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

export type TrainingRun = Complete<
  api.RunView,
  {
    state: JobState;
    setup: Setup;
    plan: { preset: string; minutes: number; seed: number };
    stage: Complete<api.StageView, { kind: "preparing" | "playing" | "learning" | "testing" }> | null;
    history: Iteration[];
  }
>;

/** A worker, and what it has done. */
export type FleetWorker = Complete<api.WorkerView>;

export type FleetJob = Complete<api.FleetJobView, { seconds_left: number | null }>;

export type FleetServer = Complete<api.ServerView, { version: string | null; leased_games: number | null; live_games: number | null; seconds: number | null }>;

export type Fleet = Complete<api.Fleet, { workers: FleetWorker[]; jobs: FleetJob[]; servers: FleetServer[] }>;

/** What the visitor may see of the fleet; `fleet` is null if there is none. */
export type FleetInfo = Complete<api.FleetView, { reason: string | null; fleet: Fleet | null }>;

export type { ShownGame } from "./api";
