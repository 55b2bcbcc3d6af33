/** What the study room's calls say and are told. */

import type { Cell, Player, Setup, Value } from "./types";

/** A position: moves, from the empty board or from discs that were set up. */
export interface PositionText {
  setup: Setup;
  /** A picture with `/` between its lines, the top row first; `X` is whoever moved first. */
  board: string | null;
  moves: string;
}

export type Sign = -1 | 0 | 1;

/** What is certain of a position or a move, for the side to move. */
export interface Certainty {
  /** The exact value, if it is known. */
  value: Value | null;
  at_least: Sign;
  at_most: Sign;
  /** The other side cannot force a win with so many of its next discs. */
  no_loss_within: number;
}

export interface ColumnTruth extends Certainty {
  column: number;
}

/** What a search of limited depth prefers: an opinion. */
export interface Estimate {
  column: number;
  /** The plies that the whole search looked ahead. */
  depth: number;
  value: Value;
  pv: number[];
}

export interface Threat {
  cell: Cell;
  /** A disc dropped now would fall there. */
  open: boolean;
  odd: boolean;
}

export interface Analysis {
  setup: Setup;
  board: string;
  to_move: Player | null;
  over: { winner: Player | null } | null;
  legal: number[];
  scores: [number, number];
  lines: Cell[][];
  value: Value | null;
  columns: (ColumnTruth | null)[];
  best: number[];
  pv: number[];
  /** What a search thinks, where not all is known. */
  estimate: Estimate | null;
  exact: boolean;
  book: boolean;
  threats: [Threat[], Threat[]];
  nodes: number;
  ms: number;
}

export interface Opinion {
  agent: string;
  column: number;
  value: Value;
  columns: ({ column: number; value: Value; bound: string } | null)[];
  /** How the player divided its attention among the columns; empty for those that do not. */
  shares: number[];
  pv: number[];
  nodes: number;
  simulations: number;
  depth: number;
  ms: number;
  stopped: boolean;
}

export interface ReadPosition {
  setup: Setup;
  kind: "moves" | "link" | "picture" | "kaggle";
  board: string;
  moves: string | null;
}

export type Judgement = "best" | "good" | "only" | "slower-win" | "faster-loss" | "mistake" | "blunder" | "unknown";

export interface Choice extends Certainty {
  column: number;
}

export interface ReviewMove {
  column: number;
  player: Player;
  judgement: Judgement;
  sign: string;
  played: Choice | null;
  best: Choice | null;
  choices: Choice[];
  /** What a search preferred, where the move could not be judged. */
  estimate: Estimate | null;
}

export interface ReviewPlayer {
  moves: number;
  judged: number;
  blunders: number;
  mistakes: number;
  slower_wins: number;
  faster_losses: number;
  only_moves: number;
  accuracy: number | null;
}

export interface Review {
  id: string;
  setup: Setup;
  first: Player;
  opening: number;
  moves: ReviewMove[];
  players: [ReviewPlayer, ReviewPlayer];
  complete: boolean;
}

export interface Puzzle {
  /** The moves that lead to it; also its name. */
  moves: string;
  goal: "win" | "draw";
  /** The winner's discs that are still to be played; 0 for a draw. */
  discs: number;
  /** From 1, easy, to 5. */
  grade: number;
  column: number;
  themes: string[];
}

export interface Puzzles {
  /** The puzzle of the day, by its place in the list. */
  daily: number;
  date: string;
  puzzles: Puzzle[];
}

/** Results with what they mean. */
export interface Tally {
  key: string;
  games: number;
  won: number;
  drawn: number;
  lost: number;
  /** The share of points and its 95 % interval. */
  score: number;
  low: number;
  high: number;
  accuracy: number | null;
  reviewed: number;
  moves: number;
  ms_per_move: number | null;
}

export interface Statistics {
  games: number;
  max_games: number;
  total: Tally;
  groups: { name: string; rows: Tally[] }[];
  lengths: { moves: number; games: number }[];
  progress: { id: string; created: number; points: number; accuracy: number | null }[];
}

export interface Explored {
  games: number;
  /** Results of the one who moved first. */
  moves: { column: number; games: number; won: number; drawn: number; lost: number; value: Value | null }[];
}
