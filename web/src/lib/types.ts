/** What the server says and is told; the shapes of its JSON. Columns and rows count from 1, row 1 at the bottom. */

export type Player = 0 | 1;
export type Ruleset = "standard" | "lines";
export type Cell = [column: number, row: number];

export interface Setup {
  cols: number;
  rows: number;
  connect: number;
  ruleset: Ruleset;
}

export interface Clock {
  initial_ms: number;
  increment_ms: number;
}

export type Seat =
  | { kind: "human"; name?: string }
  | { kind: "open" }
  | { kind: "agent"; agent: string; name?: string };

export interface NewGame {
  setup: Setup;
  seats: [Seat, Seat];
  first: Player | null;
  clock: Clock | null;
  moves?: string;
  /** Whether strangers see the game in their lists; by default only games between agents. */
  listed?: boolean;
}

export interface Move {
  column: number;
  row: number;
  player: Player;
  ms: number;
  nodes?: number | null;
  value?: string | null;
}

export interface Seated {
  kind: "human" | "open" | "agent";
  name: string;
  agent: string | null;
  you: boolean;
  connected: boolean;
  away_ms: number | null;
  time_ms: number;
}

export type Reason = "line" | "board-full" | "time" | "forfeit" | "resigned" | "agreed" | "abandoned";

export interface Result {
  winner: Player | null;
  reason: Reason | string;
}

export interface GameView {
  id: string;
  version: number;
  /** Milliseconds since 1970. */
  created: number;
  setup: Setup;
  players: [Seated, Seated];
  first: Player;
  status: "waiting" | "playing" | "finished";
  moves: Move[];
  ply: number;
  /** How many of the moves were given at the start. */
  opening: number;
  undone: number;
  to_move: Player | null;
  legal: number[];
  scores: [number, number];
  lines: Cell[][];
  result: Result | null;
  clock: (Clock & { remaining_ms: [number, number]; running: Player | null }) | null;
  offers: { draw: Player | null; undo: Player | null; rematch: Player | null };
  rematch: string | null;
  watchers: number;
  thinking: Player | null;
  /** How long a person who dropped out of a game between people has to come back. */
  away_limit_ms: number | null;
  mine: boolean;
  /** Whether strangers see it in their lists. */
  listed?: boolean;
}

export interface GameSummary {
  id: string;
  /** Milliseconds since 1970. */
  created: number;
  setup: Setup;
  players: [SummaryPlayer, SummaryPlayer];
  first: Player;
  status: GameView["status"];
  moves: string;
  result: Result | null;
  mine: boolean;
  listed?: boolean;
}

export interface SummaryPlayer {
  kind: Seated["kind"];
  name: string;
  agent: string | null;
  you: boolean;
}

export interface Parameter {
  name: string;
  about: string;
  kind: "integer" | "number" | "choice" | "text" | "flag";
  default: string | number | boolean | null;
  min: number | null;
  max: number | null;
  choices: string[] | null;
}

export interface AgentKind {
  name: string;
  about: string;
  parameters: Parameter[];
}

export interface Roster {
  agents: AgentKind[];
  levels: { level: number; about: string }[];
}

export interface Thinking {
  player: Player;
  depth: number | null;
  nodes: number | null;
  pv: number[];
  ms: number;
}

export interface Value {
  kind: "win" | "loss" | "draw" | "lines" | "points" | "chance";
  /** Plies to a win or loss, lines more than the other side, points, or a chance from 0 to 1. */
  number: number;
  text: string;
}

export interface Hint {
  column: number;
  value: Value;
  /** From the left; nothing where nobody can play or nothing is known. */
  columns: ({ column: number; value: Value; bound: string } | null)[];
  exact: boolean;
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

export interface GamePage {
  games: GameSummary[];
  next: string | null;
}
