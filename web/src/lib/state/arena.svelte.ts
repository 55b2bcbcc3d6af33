/** The tournament on the screen, and its games. */

import { arena as calls } from "../server-research";
import type { PlayedGame, Tournament } from "../types-research";
import { JobWatcher } from "./job.svelte";

export class TournamentWatcher extends JobWatcher<Tournament> {
  games: PlayedGame[] = $state.raw([]);
  more = $state(false);
  private shown = -1;

  constructor(private readonly id: string) {
    super(() => calls.show(id), 700);
  }

  async moreGames(): Promise<void> {
    const last = this.games.at(-1);
    try {
      const next = await calls.games(this.id, last?.number ?? null);
      this.games = [...this.games, ...next];
      this.more = next.length >= 24;
      this.error = "";
    } catch (failure) {
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
  }

  protected async loadDetails({ done }: Tournament): Promise<void> {
    // Reload the list when it has grown, unless the user has already loaded more of it.
    if (done === this.shown || this.games.length > 24) return;
    const games = await calls.games(this.id, null);
    if (this.closed) return;
    this.games = games;
    this.more = games.length >= 24;
    this.shown = done;
  }
}
