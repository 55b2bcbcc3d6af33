/** The timing of falling discs: one disc falls at a time, and the effects of a move wait until it has landed.
 *
 * After every change of a board, call `follow` with its discs. If there is exactly one new disc, it falls; any other change
 * (a jump, a takeback) puts all discs in place at once. A disc that is still in the air when the next one comes is put in
 * place at once.
 */

import { knock } from "../sound";
import { fallTo, type Fall } from "../transitions/fall";
import type { Size } from "../transitions/geometry";
import type { Disc } from "../transitions/position";
import { settings } from "./settings.svelte";

export class Movement {
  /** The ply of the disc in the air. */
  falling: number | null = $state(null);
  /** How it falls. */
  fall: Fall | null = null;
  /** When the last disc comes to rest, in milliseconds of `performance.now`. */
  restsAt = -Infinity;
  /** Called each time a disc has come to rest by itself. */
  onrest: (() => void) | null = null;

  /** The newest disc of the last board, or null before the first one. */
  private newest: string | null = null;
  /** The newest disc has already made its sound. */
  private silent = true;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private landing: ReturnType<typeof setTimeout> | undefined;

  /** Shows a board, given by its discs in move order. The same board again changes nothing. */
  follow(discs: readonly Disc[], size: Size): void {
    const newest = discs.at(-1);
    const key = keyOf(newest);
    if (key === this.newest) return;
    const forward = newest !== undefined && keyOf(discs.at(-2)) === this.newest;
    this.newest = key;
    this.settle();
    if (!forward) return;
    this.restsAt = performance.now();
    this.silent = false;
    if (settings.reducedMotion || globalThis.document?.visibilityState === "hidden") this.land();
    else this.begin(newest, size);
  }

  /** Puts the falling disc in place at once. */
  settle(): void {
    clearTimeout(this.rest);
    this.land();
    this.falling = null;
    this.restsAt = Math.min(this.restsAt, performance.now());
  }

  /** Stops all timers when the board is gone. */
  close(): void {
    clearTimeout(this.rest);
    clearTimeout(this.landing);
    this.onrest = null;
  }

  private begin(disc: Disc, size: Size): void {
    this.fall = fallTo(disc.row, size);
    this.falling = disc.ply;
    this.restsAt += this.fall.duration;
    this.landing = setTimeout(() => this.land(), this.fall.landing);
    this.rest = setTimeout(() => {
      this.falling = null;
      this.onrest?.();
    }, this.fall.duration);
  }

  private land(): void {
    clearTimeout(this.landing);
    if (this.silent) return;
    this.silent = true;
    if (settings.all.sound) knock();
  }
}

function keyOf(disc: Disc | undefined): string {
  return disc ? `${disc.ply}-${disc.column}` : "";
}
