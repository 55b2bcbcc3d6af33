/** The player of a list of moves: pace, pause, step, autoplay. One and the same for a live game, a replay, a tournament's
 * board, a review and a refutation.
 *
 *     const playback = new Playback({ length: moves.length });      // stands at the end
 *     <Board movement={playback.movement} shown={shown(view, playback.at, null)} />
 *     <PlaybackControls {playback} />                               // lib/parts/Playback.svelte
 *
 * `playback.at` is the number of moves to show. Call `extend` when there are more (or fewer) moves, `restart` for another
 * list, and `close` when the page goes. A refutation that begins by itself: `playback.restart(length, 0); playback.play()`.
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
  /** Called at once whenever other moves are shown. */
  onshow?: (at: number) => void;
}

export class Playback {
  /** The number of moves shown. */
  at = $state(0);
  /** The number of moves there are. */
  length = $state(0);
  playing = $state(false);
  pace: Pace = $state("normal");
  live = $state(false);
  /** The clock of its board. */
  readonly movement = new Movement();
  /** It stands somewhere before the end because the person wants to look. */
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

  /** Another list of moves, shown up to a ply. */
  restart(length: number, at = length): void {
    this.playing = false;
    this.length = length;
    this.show(at);
  }

  /** The same list has another length: moves were made or taken back. */
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
    // At the end it begins again, with the empty board.
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

  /** A step of the person's ends the autoplay, except that the last position of a live game is followed again. */
  step(way: Step): void {
    this.goTo(goToStep(this.at, this.length, way), way === "last");
  }

  goTo(ply: number, follow = ply >= this.length): void {
    this.playing = this.live && follow;
    this.show(Math.max(0, Math.min(this.length, ply)));
    this.schedule();
  }

  /** The person's own move, which is shown at once: what is still in the air is put in place. */
  place(length: number): void {
    this.movement.settle();
    this.length = length;
    this.show(length);
    this.schedule();
  }

  /** The person acts again: what is in the air is put in place, and the next move begins at once. */
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
    // Looked at again when it is due, as a board may begin to move a little after it was told to.
    const now = performance.now();
    const due = this.pace === "live" && settings.calm ? now : dueAt(this.pace, this.shownAt, this.movement.restsAt);
    if (due > now) this.timer = setTimeout(() => this.schedule(), due - now);
    else this.advance();
  }
}

function goToStep(at: number, length: number, way: Step): number {
  return step(goTo(at, length), length, way) ?? length;
}
