/** The fleet on the screen, polled every second. */

import { fleet } from "../server-research";
import type { FleetInfo } from "../types-research";

const POLL_MS = 1_000;
/** The interval while the page is hidden or there is no fleet to show. */
const IDLE_MS = 5_000;

export class FleetWatcher {
  info: FleetInfo | null = $state.raw(null);
  error = $state("");
  private closed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener("visibilitychange", this.refresh);
    void this.poll();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.refresh);
  }

  private readonly refresh = (): void => {
    if (this.closed || document.visibilityState === "hidden") return;
    clearTimeout(this.timer);
    void this.poll();
  };

  private async poll(): Promise<void> {
    try {
      const info = await fleet.show();
      if (this.closed) return;
      this.info = info;
      this.error = "";
    } catch (failure) {
      if (this.closed) return;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    const isIdle = this.error || !this.info?.fleet || document.visibilityState === "hidden";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.poll(), isIdle ? IDLE_MS : POLL_MS);
  }
}
