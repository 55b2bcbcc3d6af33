/** The tournament on the screen, followed while it is played. */

import { ServerError } from "../server";
import { arena as calls } from "../server-bench";
import type { Played, Tournament } from "../types-bench";

const EVERY_MS = 700;

export class Follow {
  tournament: Tournament | null = $state.raw(null);
  games: Played[] = $state.raw([]);
  more = $state(false);
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

  async act(what: "stop" | "resume"): Promise<void> {
    try {
      this.error = "";
      this.take(await calls[what](this.id));
    } catch (failure) {
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    this.again(0);
  }

  async moreGames(): Promise<void> {
    const last = this.games.at(-1);
    const next = await calls.games(this.id, last?.number ?? null).catch(() => []);
    this.games = [...this.games, ...next];
    this.more = next.length >= 24;
  }

  private async ask(): Promise<void> {
    try {
      this.take(await calls.show(this.id));
      this.error = "";
      const { done } = this.tournament!;
      // The list is read again when it has grown, unless somebody has gone further down in it.
      if (done !== this.shown && this.games.length <= 24) {
        const games = await calls.games(this.id, null);
        if (this.closed) return;
        this.games = games;
        this.more = games.length >= 24;
        this.shown = done;
      }
    } catch (failure) {
      if (failure instanceof ServerError && failure.status === 404) this.missing = true;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    const state = this.tournament?.state;
    if (!this.missing && (state === undefined || state === "queued" || state === "running")) this.again(EVERY_MS);
  }

  private take(tournament: Tournament): void {
    if (!this.closed) this.tournament = tournament;
  }

  private again(ms: number): void {
    clearTimeout(this.timer);
    // Nobody looks at a hidden page.
    const wait = document.visibilityState === "hidden" ? 5_000 : ms;
    if (!this.closed) this.timer = setTimeout(() => void this.ask(), wait);
  }
}
