/** The only file that talks to the server: HTTP calls, and a WebSocket per game that reconnects by itself. */

import { t } from "./i18n";
import { backoff } from "./transitions/backoff";
import { refusalText } from "./transitions/refusal";
import type { GamePage, GameView, Hint, HistoryFilter, NewGame, Player, Roster, Setup, Thinking } from "./types";

/** A call that the server refused or that did not reach it. */
export class ServerError extends Error {
  constructor(
    message: string,
    /** The HTTP status, or 0 if there was no response. */
    readonly status: number,
    /** The current state of the game, if the response contained it. */
    readonly game: GameView | null = null,
    /** The seconds to wait before trying again. */
    readonly wait: number | null = null,
  ) {
    super(message);
  }
}

export const server = {
  agents: () => call<Roster>("GET", "/api/agents"),
  create: (game: NewGame) => call<GameView>("POST", "/api/games", game),
  game: (id: string) => call<GameView>("GET", path(id)),
  join: (id: string, name: string) => call<GameView>("POST", path(id, "join"), name ? { name } : {}),
  move: (id: string, column: number, ply: number) => call<GameView>("POST", path(id, "moves"), { column, ply }),
  undo: (id: string, accept?: boolean) => call<GameView>("POST", path(id, "undo"), answer(accept)),
  redo: (id: string) => call<GameView>("POST", path(id, "redo"), {}),
  resign: (id: string) => call<GameView>("POST", path(id, "resign"), {}),
  draw: (id: string, accept?: boolean) => call<GameView>("POST", path(id, "draw"), answer(accept)),
  rematch: (id: string, accept?: boolean) => call<{ id: string | null }>("POST", path(id, "rematch"), answer(accept)),
  seat: (id: string, player: Player, agent: string) => call<GameView>("POST", path(id, "seat"), { player, agent }),
  list: (id: string, listed: boolean) => call<GameView>("POST", path(id, "listing"), { listed }),
  remove: (id: string) => call<void>("DELETE", path(id)),
  forgetMe: () => call<void>("DELETE", "/api/me"),
  hint: (setup: Setup, moves: string) => call<Hint>("POST", "/api/hint", { setup, moves }),
  games: (filter: HistoryFilter, limit: number, before: string | null) =>
    call<GamePage>("GET", `/api/games?${query(filter, limit, before)}`),
  recordUrl: (id: string, format?: "gif" | "pgn" | "text") => path(id, format ? `record?format=${format}` : "record"),
};

export interface SocketEvents {
  game: (view: GameView) => void;
  thinking: (thinking: Thinking) => void;
  refused: (error: string, view: GameView | null) => void;
  connection: (open: boolean) => void;
  /** The game does not exist any more. */
  gone: () => void;
}

const PING_MS = 20_000;
/** After this long without a message the connection counts as lost, whatever the socket says. */
const SILENCE_MS = 45_000;

/** A game's WebSocket. It reconnects with exponential backoff until it is closed or the game is deleted. While the server accepts
    no WebSocket, the game is fetched over HTTP. */
export class GameSocket {
  private socket: WebSocket | null = null;
  private opened = false;
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pings: ReturnType<typeof setInterval> | undefined;
  private closed = false;
  private lastMessageAt = 0;

  constructor(
    private readonly id: string,
    private readonly events: SocketEvents,
  ) {
    addEventListener("online", this.reconnectNow);
    addEventListener("offline", this.drop);
    document.addEventListener("visibilitychange", this.reconnectNow);
    this.connect();
  }

  /** Sends a move. Returns false if there is no connection, so that the caller can use HTTP. */
  move(column: number, ply: number): boolean {
    return this.send({ type: "move", column, ply });
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    clearInterval(this.pings);
    removeEventListener("online", this.reconnectNow);
    removeEventListener("offline", this.drop);
    document.removeEventListener("visibilitychange", this.reconnectNow);
    this.socket?.close();
  }

  private connect(): void {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${path(this.id, "live")}`);
    this.socket = socket;
    this.opened = false;
    socket.onopen = () => {
      if (this.closed) return socket.close();
      this.opened = true;
      this.failures = 0;
      this.lastMessageAt = Date.now();
      clearInterval(this.pings);
      this.pings = setInterval(this.ping, PING_MS);
      this.events.connection(true);
    };
    socket.onmessage = (event) => {
      this.lastMessageAt = Date.now();
      if (!this.closed) this.receive(event.data);
    };
    socket.onclose = () => {
      if (this.socket === socket) this.lost();
    };
  }

  private receive(data: unknown): void {
    if (typeof data !== "string") return;
    const message = parse(data) as { type?: string } & Record<string, unknown>;
    switch (message.type) {
      case "game":
        return this.events.game(message.game as GameView);
      case "thinking":
        return this.events.thinking(message as unknown as Thinking);
      case "refused":
        return this.events.refused(refusalText(String(message.error ?? ""), t.refusals), (message.game ?? null) as GameView | null);
      case "bye":
        // After any other reason, such as a server restart, the socket reconnects.
        if (message.reason === "deleted") this.gone();
    }
  }

  private gone(): void {
    this.close();
    this.events.gone();
  }

  /** Fetches the game over HTTP. Unlike a failed WebSocket, the response shows whether the game still exists. */
  private async fetchInstead(): Promise<void> {
    try {
      const view = await server.game(this.id);
      if (!this.closed) this.events.game(view);
    } catch (failure) {
      if (!this.closed && failure instanceof ServerError && failure.status === 404) this.gone();
    }
  }

  private lost(): void {
    this.socket = null;
    clearInterval(this.pings);
    if (this.closed) return;
    this.events.connection(false);
    if (!this.opened) void this.fetchInstead();
    this.failures += 1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), backoff(this.failures, Math.random()));
  }

  /** Reconnects at once when the network or the tab is back. */
  private readonly reconnectNow = (): void => {
    if (this.closed || document.visibilityState === "hidden") return;
    if (this.socket === null) {
      clearTimeout(this.timer);
      this.connect();
    } else {
      this.ping();
    }
  };

  /** Closes the socket when the network is gone, which the socket itself would notice much later. */
  private readonly drop = (): void => {
    const socket = this.socket;
    if (!socket) return;
    this.lost();
    socket.close();
  };

  private readonly ping = (): void => {
    if (Date.now() - this.lastMessageAt > SILENCE_MS) this.drop();
    else this.send({ type: "ping" });
  };

  private send(message: object): boolean {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}

/** How long a call waits in total for a busy server. */
const PATIENCE_S = 10;
/** The wait after a 503 without Retry-After, such as that of a proxy. */
const RETRY_S = 2;

/** A call that the signal can abort. A busy server (429, 503) has not executed the request, so the call is retried after the
    requested wait, unless the total wait would exceed the patience. */
export async function call<T>(method: string, address: string, body?: object, signal?: AbortSignal, patience = PATIENCE_S): Promise<T> {
  for (let waited = 0; ; ) {
    try {
      return await callOnce<T>(method, address, body, signal);
    } catch (failure) {
      const wait = failure instanceof ServerError ? failure.wait : null;
      if (wait === null || waited + wait > patience || signal?.aborted) throw failure;
      waited += wait;
      await pause(wait * 1000, signal);
    }
  }
}

/** A call in a long series: it waits and retries as long as the server is busy, until the signal aborts it. */
export function patientCall<T>(method: string, address: string, body: object, signal: AbortSignal): Promise<T> {
  return call<T>(method, address, body, signal, Infinity);
}

async function callOnce<T>(method: string, address: string, body?: object, signal?: AbortSignal): Promise<T> {
  let response: Response;
  try {
    response = await fetch(address, {
      method,
      credentials: "same-origin",
      headers: body ? { "content-type": "application/json" } : {},
      body: body ? JSON.stringify(body) : undefined,
      signal,
    });
  } catch {
    throw new ServerError(t.errors.offline, 0);
  }
  const answered = parse(await response.text().catch(() => "")) as { error?: string; game?: GameView };
  if (response.ok) return answered as T;
  if (response.status === 429 || response.status === 503) {
    const wait = Number(response.headers.get("retry-after")) || RETRY_S;
    throw new ServerError(t.errors.busy(wait), response.status, null, wait);
  }
  throw new ServerError(answered.error ? refusalText(answered.error, t.refusals) : t.errors.unexpected(response.status), response.status, answered.game ?? null);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}

function path(id: string, part = ""): string {
  return `/api/games/${encodeURIComponent(id)}${part && `/${part}`}`;
}

function answer(accept: boolean | undefined): object {
  return accept === undefined ? {} : { accept };
}

function query(filter: HistoryFilter, limit: number, before: string | null): string {
  const words = new URLSearchParams({ limit: String(limit) });
  if (filter.mine) words.set("mine", "true");
  for (const key of ["winner", "status", "ruleset", "agent", "player"] as const) {
    if (filter[key]) words.set(key, filter[key]);
  }
  const [cols, rows] = filter.size.split("x");
  if (cols && rows) {
    words.set("cols", cols);
    words.set("rows", rows);
  }
  if (before) words.set("before", before);
  return words.toString();
}
