/** The training run on the screen, followed while it works. */

import { ServerError } from "../server";
import { training as calls } from "../server-bench";
import type { ShownGame, TrainingRun } from "../types-bench";

const EVERY_MS = 1_000;

export class FollowRun {
  run: TrainingRun | null = $state.raw(null);
  games: ShownGame[] = $state.raw([]);
  missing = $state(false);
  error = $state("");
  private timer: ReturnType<typeof setTimeout> | undefined;
  private closed = false;
  private shown = -1;

  constructor(readonly id: string) {
    void this.ask();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  async act(action: () => Promise<TrainingRun>): Promise<void> {
    try {
      this.error = "";
      this.run = await action();
    } catch (failure) {
      this.error = failure instanceof Error ? failure.message : String(failure);
      return;
    }
    this.again(0);
  }

  private async ask(): Promise<void> {
    try {
      const run = await calls.show(this.id);
      if (this.closed) return;
      this.run = run;
      this.error = "";
      // Games are shown as soon as they are over, before the iteration is.
      const games = run.iterations * 2 + (run.stage?.kind === "learning" || run.stage?.kind === "testing" ? 1 : 0);
      if (games !== this.shown) {
        this.games = await calls.games(this.id);
        this.shown = games;
      }
    } catch (failure) {
      if (failure instanceof ServerError && failure.status === 404) this.missing = true;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    const state = this.run?.state;
    if (!this.missing && (state === undefined || state === "queued" || state === "running")) this.again(EVERY_MS);
  }

  private again(ms: number): void {
    clearTimeout(this.timer);
    const wait = document.visibilityState === "hidden" ? 5_000 : ms;
    if (!this.closed) this.timer = setTimeout(() => void this.ask(), wait);
  }
}
