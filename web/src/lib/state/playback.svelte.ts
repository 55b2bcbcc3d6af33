/** Playback of a list of moves: speed, pause, step, autoplay. Used by live games, replays, tournament boards, reviews and
 * refutations.
 *
 *     const playback = new Playback({ length: moves.length });      // starts at the end
 *     <Board movement={playback.movement} shown={shown(view, playback.at, null)} />
 *     <PlaybackControls {playback} />                               // lib/parts/Playback.svelte
 *
 * `playback.at` is the number of moves to show. Call `extend` when there are more (or fewer) moves, `restart` for another
 * list, and `close` when the page is left. To start a line by itself: `playback.restart(length, 0); playback.play()`.
 */

import { dueAt, nextAt, type Pace } from "../transitions/pace";
import { goTo, step, type Step } from "../transitions/steps";
import { Movement } from "./movement.svelte";
import { settings } from "./settings.svelte";

export interface PlaybackOptions {
  length?: number;
  at?: number;
  pace?: Pace;
  /** More moves may come: at the end it waits for them. */
  live?: boolean;
  playing?: boolean;
  /** Called whenever `at` changes. */
  onshow?: (at: number) => void;
}

export class Playback {
  /** The number of moves shown. */
  at = $state(0);
  /** The number of moves available. */
  length = $state(0);
  playing = $state(false);
  pace: Pace = $state("normal");
  live = $state(false);
  /** The timing of its board's discs. */
  readonly movement = new Movement();
  /** The user has stopped before the end to look at a position. */
  readonly looking = $derived(!this.playing && this.at < this.length);

  private shownAt = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onshow: ((at: number) => void) | undefined;

  constructor({ length = 0, at = length, pace = settings.all.pace, live = false, playing = false, onshow }: PlaybackOptions = {}) {
    this.length = length;
    this.at = at;
    this.pace = pace;
    this.live = live;
    this.onshow = onshow;
    this.playing = playing;
    this.schedule();
  }

  /** Starts with another list of moves, shown up to a ply. */
  restart(length: number, at = length): void {
    this.playing = false;
    this.length = length;
    this.show(at);
  }

  /** The list has another length: moves were made or taken back. */
  extend(length: number, live = this.live): void {
    const fewer = length < this.length;
    const followed = this.at >= this.length;
    this.length = length;
    this.live = live;
    if (this.at > length || (fewer && followed)) this.show(length);
    this.schedule();
  }

  play(): void {
    if (!this.live && this.pace === "live") this.pace = "normal";
    this.playing = true;
    // At the end, start again from the empty board.
    if (this.at >= this.length && !this.live) this.show(0);
    this.schedule();
  }

  pause(): void {
    this.playing = false;
    clearTimeout(this.timer);
  }

  toggle(): void {
    if (this.playing) this.pause();
    else this.play();
  }

  setPace(pace: Pace): void {
    this.pace = pace;
    this.schedule();
  }

  /** A manual step ends the autoplay, except that the last position of a live game follows it again. */
  step(way: Step): void {
    this.goTo(goToStep(this.at, this.length, way), way === "last");
  }

  goTo(ply: number, follow = ply >= this.length): void {
    this.playing = this.live && follow;
    this.show(Math.max(0, Math.min(this.length, ply)));
    this.schedule();
  }

  /** Shows the user's own move at once: a falling disc is put in place. */
  place(length: number): void {
    this.movement.settle();
    this.length = length;
    this.show(length);
    this.schedule();
  }

  /** The user acts: a falling disc is put in place, and the next move starts at once. */
  hurry(): void {
    this.movement.settle();
    if (this.playing && this.at < this.length) this.advance();
  }

  close(): void {
    clearTimeout(this.timer);
    this.movement.close();
  }

  private show(at: number): void {
    if (at === this.at) return;
    this.at = at;
    this.shownAt = performance.now();
    this.onshow?.(at);
  }

  private advance(): void {
    this.show(nextAt(this.pace, this.at, this.length));
    this.schedule();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (!this.playing) return;
    if (this.at >= this.length) {
      if (!this.live) this.playing = false;
      return;
    }
    // Check again when it is due, because a board may start to move a little later.
    const now = performance.now();
    const due = this.pace === "live" && settings.reducedMotion ? now : dueAt(this.pace, this.shownAt, this.movement.restsAt);
    if (due > now) this.timer = setTimeout(() => this.schedule(), due - now);
    else this.advance();
  }
}

function goToStep(at: number, length: number, way: Step): number {
  return step(goTo(at, length), length, way) ?? length;
}
