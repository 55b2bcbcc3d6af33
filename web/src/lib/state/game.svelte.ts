/** The game on the screen: the server's view of it, and what the person is doing with it. */

import { t } from "../i18n";
import { router } from "../router.svelte";
import { Live, server, ServerError } from "../server";
import { chime } from "../sound";
import { announce } from "../transitions/announce";
import { moveText, shown, type Pending, type Shown } from "../transitions/position";
import { goTo, step, type Step } from "../transitions/steps";
import { apply, keepCursor, rights, stillPending, yourSeat, type Rights } from "../transitions/view";
import type { GameView, Hint, NewGame, Player, Thinking } from "../types";
import { settings } from "./settings.svelte";

/** A line that is shown for a moment. */
export interface Notice {
  text: string;
  bad: boolean;
}

const NOTICE_MS = 4_000;
/** Between two ticks of the clocks. */
const TICK_MS = 100;

class GameState {
  view: GameView | null = $state.raw(null);
  /** How the game could not be loaded. */
  failure: "missing" | "unreachable" | null = $state(null);
  connected = $state(true);
  /** The number of moves shown while looking back; nothing while the game itself is shown. */
  cursor: number | null = $state(null);
  pending: Pending | null = $state.raw(null);
  thinking: Thinking | null = $state.raw(null);
  hint: (Hint & { ply: number }) | null = $state.raw(null);
  hinting = $state(false);
  notice: Notice | null = $state.raw(null);
  announcement = $state("");
  flipped = $state(false);
  /** Milliseconds since the view arrived, for clocks that run in between. */
  elapsed = $state(0);

  readonly ply = $derived(this.cursor ?? this.view?.moves.length ?? 0);
  readonly board: Shown | null = $derived(this.view ? shown(this.view, this.ply, this.pending) : null);
  readonly may: Rights | null = $derived(this.view ? rights(this.view) : null);
  readonly canDrop = $derived(!!this.may?.move && this.cursor === null && this.pending === null);
  /** The hint, as long as the position it is for is on the screen. */
  readonly shownHint = $derived(this.hint && this.hint.ply === this.ply && this.cursor === null && !this.pending ? this.hint : null);

  private live: Live | null = null;
  private arrived = 0;
  private ticker: ReturnType<typeof setInterval> | undefined;
  private noticeTimer: ReturnType<typeof setTimeout> | undefined;

  /** Shows a game. A view that is known already (a game just made) is on the screen at once. */
  open(id: string): void {
    if (this.live && this.view?.id === id) return;
    this.close();
    if (this.view?.id !== id) this.reset();
    this.ticker = setInterval(() => (this.elapsed = performance.now() - this.arrived), TICK_MS);
    this.listen(id);
    if (!this.view) void this.load(id);
  }

  close(): void {
    this.live?.close();
    this.live = null;
    clearInterval(this.ticker);
  }

  /** Makes a game and goes to it, with a first move of the person's if there is one already. */
  async start(wanted: NewGame, column?: number): Promise<void> {
    let view = await server.create(wanted);
    if (column !== undefined) view = await server.move(view.id, column, view.moves.length);
    // The game is on the screen before its page has asked for it, so that the change is seamless.
    this.close();
    this.reset();
    this.receive(view);
    router.go(`/game/${view.id}`);
  }

  drop(column: number): void {
    const { view } = this;
    if (!view || !this.canDrop || view.to_move === null) {
      if (view?.status === "playing" && this.cursor !== null) this.cursor = null;
      return;
    }
    if (!view.legal.includes(column)) {
      this.say(t.game.full(column), true);
      return;
    }
    const ply = view.moves.length;
    this.pending = { column, ply, player: view.to_move };
    this.hint = null;
    this.notice = null;
    if (!this.live?.move(column, ply)) void this.ask(() => server.move(view.id, column, ply));
  }

  undo(accept?: boolean): void {
    const { view } = this;
    if (view && (accept !== undefined || this.may?.undo)) void this.ask(() => server.undo(view.id, accept));
  }

  redo(): void {
    const { view } = this;
    if (view && this.may?.redo) void this.ask(() => server.redo(view.id));
  }

  resign(): void {
    const { view } = this;
    if (view && this.may?.resign) void this.ask(() => server.resign(view.id));
  }

  draw(accept?: boolean): void {
    const { view } = this;
    if (view && (accept !== undefined || this.may?.draw)) void this.ask(() => server.draw(view.id, accept));
  }

  async join(): Promise<void> {
    const { view } = this;
    if (!view) return;
    await this.ask(() => server.join(view.id, settings.all.name));
    // The socket was opened by a passer-by, before there was a cookie that tells whose the seat is.
    if (this.live && this.view?.mine) this.listen(view.id);
  }

  changeOpponent(player: Player, agent: string): void {
    const { view } = this;
    if (view) void this.ask(() => server.seat(view.id, player, agent));
  }

  async rematch(accept?: boolean): Promise<void> {
    const { view } = this;
    if (!view) return;
    if (view.rematch) return router.go(`/game/${view.rematch}`);
    try {
      const { id } = await server.rematch(view.id, accept);
      if (id) router.go(`/game/${id}`);
    } catch (error) {
      this.failed(error);
    }
  }

  async askHint(): Promise<void> {
    const { view } = this;
    if (!view || !this.may?.hint || this.hinting) return;
    this.cursor = null;
    this.hinting = true;
    try {
      const ply = view.moves.length;
      const hint = await server.hint(view.setup, moveText(view.moves));
      if (this.view?.id === view.id) this.hint = { ...hint, ply };
    } catch (error) {
      this.failed(error);
    } finally {
      this.hinting = false;
    }
  }

  step(way: Step): void {
    if (this.view) this.cursor = step(this.cursor, this.view.moves.length, way);
  }

  show(ply: number): void {
    if (this.view) this.cursor = goTo(ply, this.view.moves.length);
  }

  say(text: string, bad = false): void {
    clearTimeout(this.noticeTimer);
    this.notice = { text, bad };
    this.announcement = text;
    this.noticeTimer = setTimeout(() => (this.notice = null), NOTICE_MS);
  }

  private listen(id: string): void {
    this.live?.close();
    this.live = new Live(id, {
      game: (view) => this.receive(view),
      thinking: (thinking) => (this.thinking = thinking),
      refused: (error, view) => this.refused(error, view),
      connection: (open) => this.connection(open),
    });
  }

  private reset(): void {
    this.view = null;
    this.failure = null;
    this.connected = true;
    this.cursor = null;
    this.pending = null;
    this.thinking = null;
    this.hint = null;
    this.notice = null;
    this.announcement = "";
    this.flipped = false;
  }

  private async load(id: string): Promise<void> {
    try {
      this.receive(await server.game(id));
    } catch (error) {
      if (this.view) return;
      this.failure = error instanceof ServerError && error.status === 404 ? "missing" : "unreachable";
      if (this.failure === "missing") this.close();
    }
  }

  private receive(incoming: GameView): void {
    const before = this.view;
    const view = apply(before, incoming);
    if (view === before) return;
    this.failure = null;
    this.arrived = performance.now();
    this.elapsed = 0;
    this.view = view;
    this.pending = stillPending(this.pending, view);
    this.cursor = keepCursor(this.cursor, view);
    if (view.thinking === null || view.moves.length !== before?.moves.length) this.thinking = null;
    const news = announce(before, view, settings.colours, t);
    if (news) this.announcement = news;
    if (before?.id === view.id) this.ended(before, view);
    // The others have taken up the rematch: follow them, if the person has asked for it.
    const seat = yourSeat(view);
    if (before && !before.rematch && view.rematch && seat !== null && before.offers.rematch === seat) router.go(`/game/${view.rematch}`);
  }

  private ended(before: GameView, view: GameView): void {
    if (before.result || !view.result || !settings.all.sound) return;
    const seat = yourSeat(view);
    const { winner } = view.result;
    chime(winner === null ? "draw" : seat === null || seat === winner ? "won" : "lost");
  }

  private connection(open: boolean): void {
    if (open && !this.connected) this.announcement = t.game.reconnected;
    if (open === this.connected) return;
    this.connected = open;
    if (!open) return;
    // A move that was under way when the line broke may or may not have arrived. The server knows: it is made again
    // only if the game still stands where it was made.
    const { view, pending } = this;
    if (view && pending) void this.ask(() => server.move(view.id, pending.column, pending.ply));
  }

  private refused(error: string, view: GameView | null): void {
    this.pending = null;
    if (view) this.receive(view);
    this.say(error, true);
  }

  private async ask(request: () => Promise<GameView>): Promise<void> {
    try {
      this.receive(await request());
    } catch (error) {
      this.failed(error);
    }
  }

  private failed(error: unknown): void {
    if (!(error instanceof ServerError)) throw error;
    if (error.game) {
      const before = this.view;
      this.receive(error.game);
      // Somebody else's move came first, or ours had arrived after all: the board says it.
      if (this.view !== before && error.status === 409 && !this.pending) return;
    }
    if (error.status !== 0) this.pending = null;
    this.say(error.message, true);
  }
}

export const game = new GameState();
