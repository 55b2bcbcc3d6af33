/** What the study room's calls say and are told. */

import type * as api from "./api";
import type { Cell, Player, Said, Setup, Told, Value } from "./types";

/** A position: moves, from the empty board or from discs that were set up, as a picture with `/` between its lines. */
export type PositionText = Told<api.PositionInput, { setup: Setup; board: string | null; moves: string }>;

export type Sign = -1 | 0 | 1;

/** What is certain of a move, for the side to move. */
export type ColumnTruth = Said<api.ColumnTruthView, { value: Value | null; at_least: Sign; at_most: Sign }>;

/** What is certain of a position or a move, for the side to move. */
export type Certainty = Omit<ColumnTruth, "column">;

/** What a search of limited depth prefers: an opinion. */
export type Estimate = Said<api.EstimateView, { value: Value }>;

export type Threat = Said<api.ThreatView, { cell: Cell }>;

export type Analysis = Said<
  api.AnalysisView,
  {
    setup: Setup;
    to_move: Player | null;
    over: Said<api.OverView, { winner: Player | null }> | null;
    scores: [number, number];
    lines: Cell[][];
    value: Value | null;
    columns: (ColumnTruth | null)[];
    estimate: Estimate | null;
    threats: [Threat[], Threat[]];
  }
>;

export type Opinion = Said<api.OpinionView, { value: Value; columns: (Said<api.OpinionColumnView, { value: Value }> | null)[] }>;

export type ReadPosition = Said<api.ReadView, { setup: Setup; kind: "moves" | "link" | "picture" | "kaggle" }>;

export type Judgement = "best" | "good" | "only" | "slower-win" | "faster-loss" | "mistake" | "blunder" | "unknown";

export type Choice = ColumnTruth;

export type ReviewMove = Said<api.ReviewMoveView, { player: Player; judgement: Judgement; played: Choice | null; best: Choice | null; choices: Choice[] }>;
export type ReviewPlayer = Said<api.ReviewPlayerView>;
export type Review = Said<api.ReviewView, { setup: Setup; first: Player; moves: ReviewMove[]; players: [ReviewPlayer, ReviewPlayer] }>;

export type Puzzle = Said<api.PuzzleView, { goal: "win" | "draw" }>;
export type Puzzles = Said<api.PuzzlesView, { puzzles: Puzzle[] }>;

/** Results with what they mean: the share of points and its 95 % interval. */
export type Tally = Said<api.ResultsView>;
export type Statistics = Said<api.StatisticsView, { total: Tally; groups: Said<api.GroupView, { rows: Tally[] }>[]; progress: Said<api.ProgressView>[] }>;

/** Results of the one who moved first. */
export type Explored = Said<api.ExplorerView, { moves: Said<api.ExplorerMoveView, { value: Value | null }>[] }>;
