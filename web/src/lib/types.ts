/** The page's names for the types of the server's JSON. They are generated from its OpenAPI document (`api.ts`, made by `npm run
    api`) and narrowed here to the values that really occur. Columns and rows count from 1, row 1 at the bottom. */

import type * as api from "./api";

/** Types that the document leaves open. */
type Opaque = Record<string, never> | Record<string, never>[] | null;

/** Every narrowed field must be a field of the schema, with values that the schema allows. */
type Narrower<Schema, Exact> = {
  [K in keyof Exact]: K extends keyof Schema ? (Required<Schema>[K] extends Opaque ? Exact[K] : Required<Exact>[K] extends Required<Schema>[K] ? Exact[K] : never) : never;
};

/** A schema with some fields narrowed. All fields are present, as in the server's responses: empty ones are `null`. */
export type Complete<Schema, Exact extends Narrower<Schema, Exact> = object> = Omit<Required<Schema>, keyof Exact> & Exact;

/** A schema with some fields narrowed. Optional fields may be left out. */
export type Narrowed<Schema, Exact extends Narrower<Schema, Exact> = object> = Omit<Schema, keyof Exact> & Exact;

export type Player = 0 | 1;
export type Ruleset = "standard" | "lines";
export type Cell = [column: number, row: number];

export type Setup = Complete<api.Setup, { ruleset: Ruleset }>;
export type Clock = api.ClockInput;
export type Seat = api.SeatInput;
export type NewGame = Narrowed<api.NewGameInput, { setup: Setup; seats: [Seat, Seat]; first: Player | null; clock: Clock | null }>;

export type Move = Narrowed<api.MoveView, { player: Player }>;
export type Seated = Complete<api.PlayerView, { kind: Seat["kind"] }>;

export type Reason = "line" | "board-full" | "time" | "forfeit" | "resigned" | "agreed" | "abandoned";
/** An unknown reason, from a server newer than the page, is shown as it is. */
export type Result = Complete<api.ResultView, { winner: Player | null }>;

export type GameView = Complete<
  api.GameView,
  {
    setup: Setup;
    players: [Seated, Seated];
    first: Player;
    status: "waiting" | "playing" | "finished";
    moves: Move[];
    to_move: Player | null;
    scores: [number, number];
    lines: Cell[][];
    result: Result | null;
    clock: Complete<api.ClockView, { remaining_ms: [number, number]; running: Player | null }> | null;
    offers: Complete<api.OffersView, { draw: Player | null; undo: Player | null; rematch: Player | null }>;
    thinking: Player | null;
  }
>;

export type SummaryPlayer = Complete<api.SummaryPlayer, { kind: Seat["kind"] }>;
export type GameSummary = Complete<api.GameSummary, { setup: Setup; players: [SummaryPlayer, SummaryPlayer]; first: Player; status: GameView["status"]; result: Result | null }>;
export type GamePage = Complete<api.ListView, { games: GameSummary[] }>;

export type Parameter = Complete<
  api.ParameterView,
  { kind: "integer" | "number" | "choice" | "text" | "flag"; default: string | number | boolean | null; min: number | null; max: number | null }
>;
export type AgentKind = Complete<api.AgentView, { parameters: Parameter[] }>;
export type Roster = Complete<api.AgentsView, { agents: AgentKind[] }>;

/** Plies to a win or loss, a margin in lines, points, or a probability from 0 to 1. */
export type Value = Complete<api.ValueView, { kind: "win" | "loss" | "draw" | "lines" | "points" | "expected" }>;

/** One entry per column from the left; null if it is full or nothing is known. */
export type Hint = Complete<api.HintView, { value: Value; columns: (Complete<api.ColumnView, { value: Value }> | null)[] }>;

/** The progress of a running search, sent over the WebSocket. */
export interface Thinking {
  player: Player;
  depth: number | null;
  nodes: number | null;
  pv: number[];
  ms: number;
}

export interface HistoryFilter {
  mine: boolean;
  winner: "" | "me" | "lost" | "draw";
  status: "" | "waiting" | "playing" | "finished";
  ruleset: "" | Ruleset;
  agent: string;
  player: string;
  /** Columns x rows, or empty for every size. */
  size: string;
}
