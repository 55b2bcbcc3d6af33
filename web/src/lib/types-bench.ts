/** What the server says of the lab, the arena and training. */

import type { Setup, Value } from "./types";

/** What a search found, and what it cost. */
export interface Search {
  agent: string;
  column: number;
  value: Value;
  /** How the player expects the game to go on, as move text. */
  pv: string;
  ms: number;
  nodes_searched: number;
  leaves: number;
  cutoffs: number;
  table_hits: number;
  simulations: number;
  /** Whether the server's limit of time ended the search. */
  stopped: boolean;
}

export type NodeKind = "max" | "min" | "leaf" | "end" | "table";

/** A node of a search tree. Values are those of the player to move at the root: `+12`, `W2`, `L1`, `draw`, `62 %`. */
export interface TreeNode {
  parent: number | null;
  column?: number;
  pass?: string;
  kind: NodeKind;
  value: string | null;
  bound: "exact" | "upper" | "lower";
  alpha?: string;
  beta?: string;
  visits?: number;
  cut?: { alpha: string; beta: string; columns: string[] };
  chosen?: boolean;
  hidden?: number;
}

export interface SearchTree extends Search {
  setup: Setup;
  /** The moves to the root. */
  moves: string;
  hidden: number;
  nodes: TreeNode[];
  /** The simulated games: the last node of each, and its result for the player at the root. */
  walks: [node: number, result: number][];
}

export type JobState = "queued" | "running" | "stopped" | "done" | "failed";

/** What the server works on for somebody: a tournament or a training run. */
export interface Job {
  state: JobState;
  mine: boolean;
  done: number;
  total: number;
  error: string | null;
}

export interface Entrant {
  agent: string;
  name: string;
}

/** What a tournament is to be. */
export interface TournamentPlan {
  title?: string;
  format: "round-robin" | "gauntlet";
  players: Entrant[];
  games: number;
  openings?: string;
  seed: number;
  setup: Setup;
}

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
export interface LiveBoard {
  number: number;
  players: [string, string];
  first: 0 | 1;
  moves: string;
}

export interface Played extends LiveBoard {
  opening: number;
  winner: 0 | 1 | null;
  reason: string;
}

export interface Tournament {
  id: string;
  title: string;
  state: JobState;
  created: number;
  mine: boolean;
  done: number;
  total: number;
  error: string | null;
  plan: TournamentPlan;
  report: Report | null;
  boards: LiveBoard[];
}

export interface TournamentSummary {
  id: string;
  title: string;
  state: JobState;
  created: number;
  done: number;
  total: number;
  players: string[];
}

export interface RunSummary {
  id: string;
  title: string;
  state: JobState;
  created: number;
  setup: Setup;
  mine: boolean;
  /** Seconds worked, and to be worked. */
  done: number;
  total: number;
  iterations: number;
}

export interface TrainingInfo {
  allowed: boolean;
  reason: string | null;
  presets: { name: string; about: string }[];
  max_minutes: number;
  runs: RunSummary[];
}

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

export interface TrainingRun extends RunSummary {
  error: string | null;
  plan: { preset: string; minutes: number; seed: number };
  stage: { kind: "preparing" | "playing" | "learning" | "testing"; done: number; of: number } | null;
  history: Iteration[];
  networks: number[];
}

export interface ShownGame {
  iteration: number;
  moves: string;
  opening: number;
}
