/** Who can be played against; asked for once. */

import { server } from "../server";
import { isChoosable } from "../transitions/agent-text";
import type { AgentKind, Roster } from "../types";

class RosterState {
  all: Roster | null = $state.raw(null);
  failed = $state(false);
  private asked = false;

  readonly levels: Roster["levels"] = $derived(this.all?.levels ?? []);
  readonly algorithms: AgentKind[] = $derived(this.all?.agents.filter(isChoosable) ?? []);

  load(): void {
    if (this.asked) return;
    this.asked = true;
    this.failed = false;
    server.agents().then(
      (roster) => (this.all = roster),
      () => {
        this.asked = false;
        this.failed = true;
      },
    );
  }

  about(level: number): string {
    return this.levels.find((one) => one.level === level)?.about ?? "";
  }
}

export const roster = new RosterState();
