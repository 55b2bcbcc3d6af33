/** The training run on the screen, and some of its games. */

import { training as calls } from "../server-research";
import type { ShownGame, TrainingRun } from "../types-research";
import { JobWatcher } from "./job.svelte";

export class RunWatcher extends JobWatcher<TrainingRun> {
  games: ShownGame[] = $state.raw([]);
  private shown = -1;

  constructor(private readonly id: string) {
    super(() => calls.show(id), 1_000);
  }

  protected async loadDetails({ iterations, stage }: TrainingRun): Promise<void> {
    // Games are shown as soon as they end, before the iteration does.
    const games = iterations * 2 + (stage?.kind === "learning" || stage?.kind === "testing" ? 1 : 0);
    if (games === this.shown) return;
    this.games = await calls.games(this.id);
    this.shown = games;
  }
}
