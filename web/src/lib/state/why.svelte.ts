/** The explanation of a position or of a move, stepped through on the board. */

import { studyServer } from "../server-study";
import { betterOf, drawingOf, stepsOf, stepsToReason, type Drawing } from "../transitions/coach";
import type { Player } from "../types";
import type { Explained, PositionText } from "../types-study";
import { Playback } from "./playback.svelte";

export class Why {
  open = $state(false);
  /** The explained move, or null for the position. */
  column: number | null = $state(null);
  explained: Explained | null = $state.raw(null);
  error = $state("");
  readonly playback = new Playback();
  readonly steps = $derived(this.explained ? stepsOf(this.explained) : []);
  /** The moves of the line that are on the board. */
  readonly played = $derived(this.open ? this.steps.slice(0, this.playback.at) : []);
  /** The reason is drawn once its position is reached. */
  readonly isAtReason = $derived(this.open && this.explained !== null && this.playback.at >= stepsToReason(this.explained));

  private request: AbortController | null = null;

  async ask(position: PositionText, column: number | null): Promise<void> {
    this.forget();
    this.open = true;
    this.column = column;
    const request = new AbortController();
    this.request = request;
    try {
      const explained = await studyServer.explain(position, column, request.signal);
      if (this.request === request) this.show(explained);
    } catch (failure) {
      if (this.request === request) this.error = failure instanceof Error ? failure.message : String(failure);
    }
  }

  /** What is drawn on the board; `first` is the colour of the first player. */
  drawing(first: Player): Drawing | null {
    const { explained } = this;
    if (!explained || !this.isAtReason) return null;
    return drawingOf(explained.reason, first, this.playback.at - (explained.column === null ? 0 : 1));
  }

  /** Shows the better move instead of the explained one. */
  showBetter(): void {
    const better = this.explained && betterOf(this.explained);
    if (!better) return;
    this.column = better.column;
    this.show(better);
  }

  close(): void {
    this.forget();
    this.open = false;
  }

  leave(): void {
    this.close();
    this.playback.close();
  }

  private show(explained: Explained): void {
    this.explained = explained;
    // A move is played at once, and the line after it step by step; the reason of a position without a line is drawn at once.
    this.playback.restart(stepsOf(explained).length, explained.column === null ? 0 : 1);
  }

  private forget(): void {
    this.request?.abort();
    this.request = null;
    this.explained = null;
    this.error = "";
    this.playback.restart(0, 0);
  }
}
