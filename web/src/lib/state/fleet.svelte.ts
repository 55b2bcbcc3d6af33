/** The fleet on the screen, polled every second. */

import { fleet } from "../server-research";
import type { FleetInfo } from "../types-research";

const EVERY_MS = 1_000;
/** While the page is hidden or the server refuses. */
const SELDOM_MS = 5_000;

export class FollowFleet {
  info: FleetInfo | null = $state.raw(null);
  error = $state("");
  private closed = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    document.addEventListener("visibilitychange", this.hurry);
    void this.ask();
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    document.removeEventListener("visibilitychange", this.hurry);
  }

  private readonly hurry = (): void => {
    if (this.closed || document.visibilityState === "hidden") return;
    clearTimeout(this.timer);
    void this.ask();
  };

  private async ask(): Promise<void> {
    try {
      const info = await fleet.show();
      if (this.closed) return;
      this.info = info;
      this.error = "";
    } catch (failure) {
      if (this.closed) return;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    const rests = this.error || !this.info?.fleet || document.visibilityState === "hidden";
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.ask(), rests ? SELDOM_MS : EVERY_MS);
  }
}
