/** What the server says and is told, by the names that the page has for it. The shapes are those of the server's own document
    (`api.ts`, made by `npm run api`); here they are narrowed to the values that really occur. Columns and rows count from 1, row 1
    at the bottom. */

import type * as api from "./api";

/** What the document leaves open. */
type Opaque = Record<string, never> | Record<string, never>[] | null;

/** Every narrowed field has to be a field of the schema, and its values have to be values of it. */
type Narrower<Schema, Exact> = {
  [K in keyof Exact]: K extends keyof Schema ? (Required<Schema>[K] extends Opaque ? Exact[K] : Required<Exact>[K] extends Required<Schema>[K] ? Exact[K] : never) : never;
};

/** A schema of the server's with some fields narrowed. What may be nothing is said to be `null`, so all fields are there. */
export type Said<Schema, Exact extends Narrower<Schema, Exact> = object> = Omit<Required<Schema>, keyof Exact> & Exact;

/** The same of what the server is told, where fields may be left out. */
export type Told<Schema, Exact extends Narrower<Schema, Exact> = object> = Omit<Schema, keyof Exact> & Exact;

export type Player = 0 | 1;
export type Ruleset = "standard" | "lines";
export type Cell = [column: number, row: number];

export type Setup = Said<api.SetupView, { ruleset: Ruleset }>;
export type Clock = api.ClockInput;
export type Seat = api.SeatInput;
export type NewGame = Told<api.NewGame, { setup: Setup; seats: [Seat, Seat]; first: Player | null; clock: Clock | null }>;

export type Move = Told<api.MoveView, { player: Player }>;
export type Seated = Said<api.PlayerView, { kind: Seat["kind"] }>;

export type Reason = "line" | "board-full" | "time" | "forfeit" | "resigned" | "agreed" | "abandoned";
/** A reason of a server that is newer than the page is shown as it is. */
export type Result = Said<api.ResultView, { winner: Player | null }>;

export type GameView = Said<
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
    clock: Said<api.ClockView, { remaining_ms: [number, number]; running: Player | null }> | null;
    offers: Said<api.OffersView, { draw: Player | null; undo: Player | null; rematch: Player | null }>;
    thinking: Player | null;
  }
>;

export type SummaryPlayer = Said<api.SummaryPlayer, { kind: Seat["kind"] }>;
export type GameSummary = Said<api.GameSummary, { setup: Setup; players: [SummaryPlayer, SummaryPlayer]; first: Player; status: GameView["status"]; result: Result | null }>;
export type GamePage = Said<api.ListView, { games: GameSummary[] }>;

export type Parameter = Said<
  api.ParameterView,
  { kind: "integer" | "number" | "choice" | "text" | "flag"; default: string | number | boolean | null; min: number | null; max: number | null }
>;
export type AgentKind = Said<api.AgentView, { parameters: Parameter[] }>;
export type Roster = Said<api.AgentsView, { agents: AgentKind[] }>;

/** Plies to a win or loss, lines more than the other side, points, or a chance from 0 to 1. */
export type Value = Said<api.ValueView, { kind: "win" | "loss" | "draw" | "lines" | "points" | "chance" }>;

/** Columns from the left; nothing where nobody can play or nothing is known. */
export type Hint = Said<api.HintView, { value: Value; columns: (Said<api.ColumnView, { value: Value }> | null)[] }>;

/** What a search says while it is under way, by WebSocket. */
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
  /** Columns x rows, or nothing for every size. */
  size: string;
}
