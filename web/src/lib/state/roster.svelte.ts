/** The available opponents. */

import { t } from "../i18n";
import { server } from "../server";
import { training } from "../server-research";
import { isChoosable } from "../transitions/agent-text";
import type { AgentKind, Roster } from "../types";
import type { RunSummary } from "../types-research";

class RosterState {
  all: Roster | null = $state.raw(null);
  failed = $state(false);
  /** The training runs on this server that have a network. */
  networks: RunSummary[] = $state.raw([]);
  private requested = false;

  readonly levels: Roster["levels"] = $derived(this.all?.levels ?? []);
  readonly algorithms: AgentKind[] = $derived(this.all?.agents.filter(isChoosable) ?? []);

  /** Loads the players once. */
  load(): void {
    if (this.requested) return;
    this.requested = true;
    this.failed = false;
    server.agents().then(
      (roster) => (this.all = roster),
      () => {
        this.requested = false;
        this.failed = true;
      },
    );
  }

  /** Loads the networks, which come and go. */
  loadNetworks(): void {
    training.info().then(
      ({ runs }) => (this.networks = runs.filter((run) => run.iterations > 0)),
      () => (this.networks = []),
    );
  }

  /** An agent's text in words, with the titles of networks. */
  describe(text: string): string {
    return t.agent(text, (id) => this.networks.find((run) => run.id === id)?.title ?? id);
  }
}

export const roster = new RosterState();
