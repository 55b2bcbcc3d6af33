/** The game on the screen: the server's view of it, and what the user is doing with it. */

import { getContext, setContext } from "svelte";
import { t } from "../i18n";
import { router } from "../router.svelte";
import { GameSocket, server, ServerError } from "../server";
import { studyServer } from "../server-study";
import { chime } from "../sound";
import { announce, announceOffers, announceStep } from "../transitions/announce";
import { fallTo } from "../transitions/fall";
import { areaColumns, areaOf, reasonOf } from "../transitions/hint";
import { moveText, shown, type Pending, type Shown } from "../transitions/position";
import { sameSetup, STANDARD } from "../transitions/setup";
import type { Step } from "../transitions/steps";
import { apply, asOf, isYou, rights, stillPending, yourSeat, type Rights } from "../transitions/view";
import type { GameView, Hint, NewGame, Player, Seat, Thinking } from "../types";
import { namePrompt } from "./name.svelte";
import { Playback } from "./playback.svelte";
import { settings } from "./settings.svelte";

/** A message that is shown briefly. */
export interface Notice {
  text: string;
  bad: boolean;
}

const NOTICE_MS = 4_000;
/** The interval at which clocks are updated. */
const TICK_MS = 100;

/** One game with its connection, for as long as its page is open. Each page has its own, so closing one page leaves the next
    page's connection alone. */
export class GameState {
  view: GameView | null = $state.raw(null);
  /** Why the game could not be loaded. */
  failure: "missing" | "unreachable" | null = $state(null);
  /** The error message to show. */
  failureText = $state("");
  connected = $state(true);
  pending: Pending | null = $state.raw(null);
  thinking: Thinking | null = $state.raw(null);
  hint: (Hint & { ply: number }) | null = $state.raw(null);
  /** How much of the hint has been requested: the area, the reason, the column. */
  hintStep = $state(0);
  /** The theme of the user's win, if there is one to look for. */
  private hintTheme = $state("");
  hinting = $state(false);
  notice: Notice | null = $state.raw(null);
  announcement = $state("");
  flipped = $state(false);
  /** Milliseconds since the view arrived, for running clocks. */
  elapsed = $state(0);
  /** Which moves are on the board. It follows the game while it is in progress; looking back pauses it. */
  readonly playback = new Playback({ live: true, playing: true, onshow: () => this.follow() });

  readonly ply = $derived(this.playback.at);
  readonly looking = $derived(this.playback.looking);
  readonly board: Shown | null = $derived(this.view ? shown(this.view, this.ply, this.pending) : null);
  /** The user is a spectator. */
  readonly watching = $derived(!!this.view && !isYou(this.view, 0) && !isYou(this.view, 1));
  private endSeen = $state(false);
  /** A spectator who has paused must not see how the game continues. */
  readonly unseen = $derived(this.watching && !this.endSeen);
  /** The game as shown: a move counts once its disc has landed. */
  readonly seen: GameView | null = $derived.by(() => {
    const { view, playback, pending } = this;
    if (!view || (this.looking && !this.unseen)) return view;
    const landed = playback.movement.falling === null ? playback.at : playback.at - 1;
    return landed === view.moves.length && !pending ? view : asOf(view, landed);
  });
  readonly may: Rights | null = $derived(this.view ? rights(this.view) : null);
  readonly canDrop = $derived(!!this.may?.move && this.pending === null && !this.looking && this.ply === this.view?.moves.length);
  /** The hint, as long as its position is on the screen. */
  readonly shownHint = $derived(this.hint && this.hint.ply === this.ply && this.canDrop ? this.hint : null);
  /** The columns of the hint's area. */
  readonly hintArea = $derived(this.shownHint && this.view ? areaColumns(this.shownHint.column, this.view.setup.cols, this.flipped) : []);
  readonly hintColumn = $derived(this.shownHint && this.hintStep >= 3 ? this.shownHint.column : null);
  /** The text of the hint, as far as it has been requested. */
  readonly hintText = $derived.by(() => {
    const { shownHint: hint, view, hintStep } = this;
    if (!hint || !view) return "";
    if (hintStep >= 3) return t.play.hintColumn(hint.column);
    return hintStep === 2 ? [t.play.hintReason(reasonOf(hint)), t.coach.themes[this.hintTheme]].filter(Boolean).join(" ") : t.play.hintArea(t.play.areas[areaOf(hint.column, view.setup.cols, this.flipped)]);
  });

  private socket: GameSocket | null;
  private closed = false;
  /** Columns chosen in a local game while the previous move is still pending. */
  private next: number[] = [];
  private arrived = 0;
  /** The last view that was announced. */
  private announced: GameView | null = null;
  private readonly ticker: ReturnType<typeof setInterval>;
  private noticeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {
    this.playback.movement.onrest = () => this.announceChanges();
    this.ticker = setInterval(() => (this.elapsed = performance.now() - this.arrived), TICK_MS);
    // Show a newly created game at once.
    const known = created?.id === id ? created : null;
    created = null;
    this.socket = this.listen();
    if (known) this.receive(known);
    else void this.load();
  }

  close(): void {
    this.closed = true;
    this.socket?.close();
    this.playback.close();
    clearInterval(this.ticker);
    clearTimeout(this.noticeTimer);
  }

  drop(column: number): void {
    const { view } = this;
    if (!view || view.to_move === null) return;
    if (!this.canDrop) {
      if (this.looking && view.status === "playing") this.playback.step("last");
      else {
        if (this.pending && isYou(view, 0) && isYou(view, 1)) this.next.push(column);
        this.playback.hurry();
      }
      return;
    }
    if (!view.legal.includes(column)) {
      this.say(t.game.full(column), true);
      return;
    }
    const ply = view.moves.length;
    this.pending = { column, ply, player: view.to_move };
    this.forgetHint();
    this.notice = null;
    this.playback.place(ply + 1);
    this.announceChanges();
    if (!this.socket?.move(column, ply)) void this.ask(() => server.move(view.id, column, ply));
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
    await this.ask(() => server.join(view.id, settings.all.name.trim()));
    if (!this.socket || this.closed || !this.view?.mine) return;
    // The socket was opened as a spectator, before the cookie for the seat existed.
    this.socket.close();
    this.socket = this.listen();
  }

  changeOpponent(player: Player, agent: string): void {
    const { view } = this;
    if (view) void this.ask(() => server.seat(view.id, player, agent));
  }

  /** Adds the game to the public list or removes it. Returns whether that succeeded. */
  async list(listed: boolean): Promise<boolean> {
    const { view } = this;
    if (!view) return false;
    await this.ask(() => server.list(view.id, listed));
    return this.view?.listed === listed;
  }

  async rematch(accept?: boolean): Promise<void> {
    const { view } = this;
    if (!view) return;
    if (view.rematch) return this.goToGame(view.rematch);
    try {
      const { id } = await server.rematch(view.id, accept);
      if (id) this.goToGame(id);
    } catch (error) {
      this.failed(error);
    }
  }

  /** Asks why the position is won. If that fails, the hint does without a theme. */
  private async findTheme(view: GameView, ply: number): Promise<void> {
    this.hintTheme = "";
    if (!sameSetup(view.setup, STANDARD) || this.hint?.value.kind !== "win") return;
    const explained = await studyServer.explain({ setup: view.setup, board: null, moves: moveText(view.moves) }, null).catch(() => null);
    if (this.hint?.ply === ply && explained) this.hintTheme = explained.reason.kind;
  }

  /** Requests a hint, then more of it: the area, the reason, the column. */
  async askHint(): Promise<void> {
    const { view } = this;
    if (!view || !this.may?.hint || this.hinting) return;
    if (this.looking) this.playback.step("last");
    if (this.shownHint) {
      this.hintStep = Math.min(3, this.hintStep + 1);
      this.announcement = this.hintText;
      return;
    }
    this.hinting = true;
    try {
      const ply = view.moves.length;
      const hint = await server.hint(view.setup, moveText(view.moves));
      if (this.view?.moves.length !== ply || this.pending) return;
      this.hint = { ...hint, ply };
      this.hintStep = 1;
      void this.findTheme(view, ply);
      this.announcement = this.hintText;
    } catch (error) {
      this.failed(error);
    } finally {
      this.hinting = false;
    }
  }

  step(way: Step): void {
    const before = this.ply;
    this.playback.step(way);
    if (this.ply !== before || way === "last") this.announceCurrentStep();
  }

  show(ply: number): void {
    this.playback.goTo(ply);
    this.announceCurrentStep();
  }

  say(text: string, bad = false): void {
    clearTimeout(this.noticeTimer);
    this.notice = { text, bad };
    this.announcement = text;
    this.noticeTimer = setTimeout(() => (this.notice = null), NOTICE_MS);
  }

  private listen(): GameSocket {
    return new GameSocket(this.id, {
      game: (view) => this.receive(view),
      thinking: (thinking) => (this.thinking = thinking),
      refused: (error, view) => this.refused(error, view),
      connection: (open) => this.connection(open),
      gone: () => this.onDeleted(),
    });
  }

  /** The game was deleted. */
  private onDeleted(): void {
    this.view = null;
    this.pending = null;
    this.failure = "missing";
    this.announcement = t.game.missing;
  }

  private async load(): Promise<void> {
    try {
      this.receive(await server.game(this.id));
    } catch (error) {
      if (this.view || this.closed) return;
      this.failure = error instanceof ServerError && error.status === 404 ? "missing" : "unreachable";
      this.failureText = error instanceof Error ? error.message : String(error);
      if (this.failure === "missing") this.socket?.close();
    }
  }

  private receive(incoming: GameView): void {
    // Ignore responses for a game that the user has left.
    if (this.closed || incoming.id !== this.id) return;
    const before = this.view;
    const view = apply(before, incoming);
    if (view === before) return;
    this.failure = null;
    this.arrived = performance.now();
    this.elapsed = 0;
    this.view = view;
    this.pending = stillPending(this.pending, view);
    if (view.thinking === null || view.moves.length !== before?.moves.length) this.thinking = null;
    this.pace(before, view);
    this.follow();
    const offers = announceOffers(before, view, settings.colours, t);
    this.announceChanges();
    if (offers) this.say(offers);
    if (!this.pending) {
      const column = this.canDrop ? this.next.shift() : undefined;
      if (column === undefined) this.next = [];
      else this.drop(column);
    }
    // The rematch has started: open it if the user offered it.
    const seat = yourSeat(view);
    if (before && !before.rematch && view.rematch && seat !== null && before.offers.rematch === seat) this.goToGame(view.rematch);
  }

  /** Sets the pace of a view's moves. In a game in progress, discs fall one after another: at the speed in the settings for
      spectators, as soon as possible for players. */
  private pace(before: GameView | null, view: GameView): void {
    const { playback } = this;
    const length = view.moves.length + (this.pending ? 1 : 0);
    const on = view.status !== "finished";
    if (!before) {
      playback.pace = this.watching || !on ? settings.all.pace : "live";
      playback.live = on;
      playback.restart(length);
      playback.playing = on;
      return;
    }
    if (before.status === "finished" && on) {
      playback.pace = "live";
      playback.playing = true;
    }
    playback.extend(length, on);
  }

  /** Updates the board: the newest disc falls, or everything is put in place. */
  private follow(): void {
    if (this.view && this.board) this.playback.movement.follow(this.board.discs, this.view.setup);
  }

  /** Announces what is new, once the disc it refers to has landed. */
  private announceChanges(): void {
    const now = this.seen;
    const { announced } = this;
    if (!now || this.looking || now === announced) return;
    this.announced = now;
    if (now.result) this.endSeen = true;
    const news = announce(announced, now, settings.colours, t);
    if (news) this.announcement = news;
    if (announced?.id === now.id) this.ended(announced, now);
  }

  private announceCurrentStep(): void {
    if (!this.view) return;
    this.announcement = announceStep(this.view, this.ply, settings.colours, t);
    this.announced = this.looking ? this.announced : this.seen;
  }

  private forgetHint(): void {
    this.hint = null;
    this.hintStep = 0;
  }

  private ended(before: GameView, view: GameView): void {
    if (before.result || !view.result || !settings.all.sound) return;
    const seat = yourSeat(view);
    const { winner } = view.result;
    chime(winner === null ? "draw" : seat === null || seat === winner ? "won" : "lost");
  }

  private goToGame(id: string): void {
    if (!this.closed) router.go(`/game/${id}`);
  }

  private connection(open: boolean): void {
    if (open === this.connected) return;
    this.announcement = open ? t.game.reconnected : t.game.reconnecting;
    this.connected = open;
    if (!open) return;
    // A move that was pending when the connection was lost may or may not have arrived. Send it again only if the game is still
    // at the same ply.
    const { view, pending } = this;
    if (view && pending) void this.ask(() => server.move(view.id, pending.column, pending.ply));
  }

  private refused(error: string, view: GameView | null): void {
    this.discardPending();
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
    if (this.closed) return;
    if (error.game) {
      const before = this.view;
      this.receive(error.game);
      // Someone else's move came first, or ours had arrived after all: the new view shows it.
      if (this.view !== before && error.status === 409 && !this.pending) return;
    }
    if (error.status !== 0) this.discardPending();
    this.say(error.message, true);
  }

  /** Takes a refused move off the board. */
  private discardPending(): void {
    this.next = [];
    if (!this.pending) return;
    this.pending = null;
    this.playback.extend(this.view?.moves.length ?? 0);
    this.follow();
  }
}

const KEY = Symbol("game");

/** The game of the current page, for its components. */
export const currentGame = (): GameState => getContext(KEY);
export const provideGame = (game: GameState): GameState => setContext(KEY, game);

/** A game that was just created and whose page is about to open. */
let created: GameView | null = null;

/** Creates a game and opens its page, with the user's first move if there is one. */
export async function startGame(given: NewGame, column?: number): Promise<void> {
  const wanted = await withName(given);
  if (!wanted) return;
  const landed = pause(column === undefined || settings.reducedMotion ? 0 : fallTo(1, wanted.setup).duration);
  let view = await server.create(wanted);
  if (column !== undefined) view = await server.move(view.id, column, view.moves.length);
  // Let the first disc land before the page changes.
  await landed;
  created = view;
  router.go(`/game/${view.id}`);
}

/** Asks for a name before a friend is invited. Returns null if the user cancels. */
async function withName(wanted: NewGame): Promise<NewGame | null> {
  if (!wanted.seats.some((seat) => seat.kind === "open")) return wanted;
  const nameless = (seat: Seat) => seat.kind === "human" && !seat.name;
  if (!wanted.seats.some(nameless)) return wanted;
  if (!(await namePrompt.ask())) return null;
  const name = settings.all.name.trim();
  const [a, b] = wanted.seats.map((seat) => (nameless(seat) ? { ...seat, name } : seat)) as [Seat, Seat];
  return { ...wanted, seats: [a, b] };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
