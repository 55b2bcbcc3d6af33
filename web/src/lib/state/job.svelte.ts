/** A tournament or training run on the screen, polled while it is active. */

import { ServerError } from "../server";
import type { JobState } from "../types-research";

export abstract class JobWatcher<J extends { state: JobState }> {
  job: J | null = $state.raw(null);
  missing = $state(false);
  error = $state("");
  protected closed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly show: () => Promise<J>,
    private readonly pollMs: number,
  ) {
    void this.poll();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
  }

  /** Stops or resumes the job, and shows the result. */
  async act(action: () => Promise<J>): Promise<void> {
    try {
      this.error = "";
      this.update(await action());
      this.schedule(0);
    } catch (failure) {
      // Do not poll now, because that would clear the message.
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
  }

  /** Loads what else belongs to the job. */
  protected abstract loadDetails(job: J): Promise<void>;

  private async poll(): Promise<void> {
    let wait = this.pollMs;
    try {
      const job = await this.show();
      this.update(job);
      this.error = "";
      await this.loadDetails(job);
    } catch (failure) {
      if (failure instanceof ServerError) {
        this.missing = failure.status === 404;
        // As long as a busy server asks for.
        wait = Math.max(wait, 1000 * (failure.wait ?? 0));
      }
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    const state = this.job?.state;
    if (!this.missing && (state === undefined || state === "queued" || state === "running")) this.schedule(wait);
  }

  private update(job: J): void {
    if (!this.closed) this.job = job;
  }

  private schedule(ms: number): void {
    clearTimeout(this.timer);
    // Poll less often while the page is hidden.
    const wait = document.visibilityState === "hidden" ? Math.max(5_000, ms) : ms;
    if (!this.closed) this.timer = setTimeout(() => void this.poll(), wait);
  }
}
