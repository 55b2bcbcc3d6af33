/** Types of the study pages. */

import type * as api from "./api";
import type { Cell, Player, Complete, Setup, Narrowed, Value } from "./types";

/** A position: moves from the empty board or from a custom position, given as a board with its rows separated by `/`. */
export type PositionText = Narrowed<api.PositionInput, { setup: Setup; board: string | null; moves: string }>;

export type Sign = -1 | 0 | 1;

/** What is proven about a move, for the side to move. */
export type ColumnValue = Complete<api.ColumnValueView, { value: Value | null; at_least: Sign; at_most: Sign }>;

/** What is proven about a position or a move, for the side to move. */
export type Certainty = Omit<ColumnValue, "column">;

/** The move that a search of limited depth prefers: an opinion. */
export type Estimate = Complete<api.EstimateView, { value: Value }>;

export type Threat = Complete<api.ThreatView, { cell: Cell }>;

export type Analysis = Complete<
  api.AnalysisView,
  {
    setup: Setup;
    to_move: Player | null;
    outcome: Complete<api.OutcomeView, { winner: Player | null }> | null;
    scores: [number, number];
    lines: Cell[][];
    value: Value | null;
    columns: (ColumnValue | null)[];
    estimate: Estimate | null;
    threats: [Threat[], Threat[]];
  }
>;

export type Opinion = Complete<api.OpinionView, { value: Value; columns: (Complete<api.OpinionColumnView, { value: Value }> | null)[] }>;

export type ReadPosition = Complete<api.ReadView, { setup: Setup; kind: "moves" | "link" | "picture" | "kaggle" }>;

export type Judgement = "best" | "good" | "only" | "slower-win" | "faster-loss" | "mistake" | "blunder" | "unknown";

export type Choice = ColumnValue;

export type ReviewMove = Complete<api.ReviewMoveView, { player: Player; judgement: Judgement; played: Choice | null; best: Choice | null; choices: Choice[] }>;
export type ReviewPlayer = Complete<api.ReviewPlayerView>;
export type Review = Complete<api.ReviewView, { setup: Setup; first: Player; moves: ReviewMove[]; players: [ReviewPlayer, ReviewPlayer]; turning_point: Complete<api.TurningPointView, { cells: Cell[] }> | null }>;

interface Couples {
  columns: [number, number][];
  only_marked: boolean;
}

/** What the coach says: a key and its values, from which each language makes a sentence. Player 0 moved first. */
export type Sentence =
  | { key: "drawn" | "draw" | "nobody_can_connect" }
  | { key: "won"; winner: Player }
  | { key: "wins_in"; winner: Player; moves: number }
  | { key: "best_play"; moves: number[] }
  | { key: "wins_now" | "threatens"; winner: Player; column: number }
  | { key: "double_threat"; winner: Player; loser: Player; columns: [number, number] }
  | { key: "stacked_threat"; winner: Player; loser: Player; column: number }
  | { key: "every_move_opens"; winner: Player; loser: Player; columns: number[] }
  | { key: "must_block" | "suppose"; loser: Player; column: number }
  | { key: "forced_moves"; winner: Player; loser: Player; moves: number[] }
  | { key: "every_reply" | "every_reply_loses_now" | "numbers"; winner: Player; loser: Player }
  | { key: "zugzwang"; winner: Player; loser: Player; cells: Cell[]; parity: "odd" | "even" | "mixed"; couples: Couples }
  | { key: "follow_up"; winner: Player; loser: Player; from: Cell; to: Cell; couples: Couples }
  | { key: "no_four_for" | "too_late" | "no_four_left" | "cannot_win_by_calculation"; player: Player }
  | { key: "holds_by_follow_up"; player: Player; opponent: Player; couples: Couples }
  | { key: "calculation"; moves: number }
  | { key: "keeps_win" | "keeps_draw" | "loses_slowest" | "better_wins" | "better_draws"; column: number }
  | { key: "wins_slower"; column: number; moves: number; better: number; better_moves: number }
  | { key: "win_to_draw" | "win_to_loss" | "draw_to_loss" | "could_connect"; player: Player; column: number }
  | { key: "loses_sooner"; column: number; better: number }
  | { key: "opens"; opponent: Player; cell: Cell }
  | { key: "leaves_four"; opponent: Player; column: number };

/** Something that the coach draws on the board. */
export interface CoachMark {
  kind: "four" | "ring" | "pair" | "held" | "move" | "number";
  player: Player | null;
  cells: Cell[];
  number: number | null;
}

/** Why a position is won, lost or drawn, at the end of a line of best play. */
export interface Explanation {
  winner: Player | null;
  moves_to_win: number | null;
  line: number[];
  kind: string;
  proven: boolean;
  marks: CoachMark[];
  sentences: Sentence[];
}

/** The explanation of a position, or of a move in it. */
export interface Explained {
  column: number | null;
  sentences: Sentence[];
  note: string | null;
  reason: Explanation;
  better: { column: number; reason: Explanation } | null;
}

export type Puzzle = Complete<api.PuzzleView, { goal: "win" | "draw" }>;
export type Puzzles = Complete<api.PuzzlesView, { puzzles: Puzzle[] }>;

/** Results, with the share of points and its 95 % interval. */
export type Results = Complete<api.ResultsView>;
export type Statistics = Complete<api.StatisticsView, { total: Results; groups: Complete<api.GroupView, { rows: Results[] }>[]; progress: Complete<api.ProgressView>[] }>;

/** Results from the first player's point of view. */
export type Explored = Complete<api.ExplorerView, { moves: Complete<api.ExplorerMoveView, { value: Value | null }>[] }>;
