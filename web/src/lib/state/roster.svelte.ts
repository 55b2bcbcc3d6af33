/** Who can be played against. */

import { t } from "../i18n";
import { server } from "../server";
import { training } from "../server-bench";
import { isChoosable } from "../transitions/agent-text";
import type { AgentKind, Roster } from "../types";
import type { RunSummary } from "../types-bench";

class RosterState {
  all: Roster | null = $state.raw(null);
  failed = $state(false);
  /** The training runs of this server that have a network. */
  networks: RunSummary[] = $state.raw([]);
  private asked = false;

  readonly levels: Roster["levels"] = $derived(this.all?.levels ?? []);
  readonly algorithms: AgentKind[] = $derived(this.all?.agents.filter(isChoosable) ?? []);

  /** Asks for the players, once. */
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

  /** Asks for the networks, which come and go. */
  loadNetworks(): void {
    training.info().then(
      ({ runs }) => (this.networks = runs.filter((run) => run.iterations > 0)),
      () => (this.networks = []),
    );
  }

  /** An agent's text for people, with the titles of networks. */
  describe(text: string): string {
    return t.agent(text, (id) => this.networks.find((run) => run.id === id)?.title ?? id);
  }
}

export const roster = new RosterState();
