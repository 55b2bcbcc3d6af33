/** Types of the study pages. */

import type * as api from "./api";
import type { Cell, Player, Complete, Setup, Narrowed, Value } from "./types";

/** A position: moves from the empty board or from a custom position, given as a board with its rows separated by `/`. */
export type PositionText = Narrowed<api.PositionInput, { setup: Setup; board: string | null; moves: string }>;

export type Sign = -1 | 0 | 1;

/** What is proven about a move, for the side to move. */
export type ColumnTruth = Complete<api.ColumnTruthView, { value: Value | null; at_least: Sign; at_most: Sign }>;

/** What is proven about a position or a move, for the side to move. */
export type Certainty = Omit<ColumnTruth, "column">;

/** The preference of a search of limited depth: an opinion. */
export type Estimate = Complete<api.EstimateView, { value: Value }>;

export type Threat = Complete<api.ThreatView, { cell: Cell }>;

export type Analysis = Complete<
  api.AnalysisView,
  {
    setup: Setup;
    to_move: Player | null;
    over: Complete<api.OverView, { winner: Player | null }> | null;
    scores: [number, number];
    lines: Cell[][];
    value: Value | null;
    columns: (ColumnTruth | null)[];
    estimate: Estimate | null;
    threats: [Threat[], Threat[]];
  }
>;

export type Opinion = Complete<api.OpinionView, { value: Value; columns: (Complete<api.OpinionColumnView, { value: Value }> | null)[] }>;

export type ReadPosition = Complete<api.ReadView, { setup: Setup; kind: "moves" | "link" | "picture" | "kaggle" }>;

export type Judgement = "best" | "good" | "only" | "slower-win" | "faster-loss" | "mistake" | "blunder" | "unknown";

export type Choice = ColumnTruth;

export type ReviewMove = Complete<api.ReviewMoveView, { player: Player; judgement: Judgement; played: Choice | null; best: Choice | null; choices: Choice[] }>;
export type ReviewPlayer = Complete<api.ReviewPlayerView>;
export type Review = Complete<api.ReviewView, { setup: Setup; first: Player; moves: ReviewMove[]; players: [ReviewPlayer, ReviewPlayer] }>;

export type Puzzle = Complete<api.PuzzleView, { goal: "win" | "draw" }>;
export type Puzzles = Complete<api.PuzzlesView, { puzzles: Puzzle[] }>;

/** Results, with the share of points and its 95 % interval. */
export type Results = Complete<api.ResultsView>;
export type Statistics = Complete<api.StatisticsView, { total: Results; groups: Complete<api.GroupView, { rows: Results[] }>[]; progress: Complete<api.ProgressView>[] }>;

/** Results from the first player's point of view. */
export type Explored = Complete<api.ExplorerView, { moves: Complete<api.ExplorerMoveView, { value: Value | null }>[] }>;
