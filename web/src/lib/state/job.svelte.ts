/** A tournament or a training run on the screen, followed while it is at work. */

import { ServerError } from "../server";
import type { JobState } from "../types-bench";

export abstract class FollowJob<J extends { state: JobState }> {
  job: J | null = $state.raw(null);
  missing = $state(false);
  error = $state("");
  protected closed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly show: () => Promise<J>,
    private readonly everyMs: number,
  ) {
    void this.ask();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  /** Stops it or lets it go on, and shows what came of that. */
  async act(action: () => Promise<J>): Promise<void> {
    try {
      this.error = "";
      this.take(await action());
      this.again(0);
    } catch (failure) {
      // It stays to be read: asking again would clear it.
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
  }

  /** Reads what else belongs to a job as it stands now. */
  protected abstract readMore(job: J): Promise<void>;

  private async ask(): Promise<void> {
    try {
      const job = await this.show();
      this.take(job);
      this.error = "";
      await this.readMore(job);
    } catch (failure) {
      if (failure instanceof ServerError && failure.status === 404) this.missing = true;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    const state = this.job?.state;
    if (!this.missing && (state === undefined || state === "queued" || state === "running")) this.again(this.everyMs);
  }

  private take(job: J): void {
    if (!this.closed) this.job = job;
  }

  private again(ms: number): void {
    clearTimeout(this.timer);
    // Nobody looks at a hidden page.
    const wait = document.visibilityState === "hidden" ? 5_000 : ms;
    if (!this.closed) this.timer = setTimeout(() => void this.ask(), wait);
  }
}
