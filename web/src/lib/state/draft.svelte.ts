/** A position that is being set up, disc by disc. */

import { boardOf, countOf, shownAfter, stacksOf, type Stacks } from "../transitions/analysis";
import { STANDARD, setupProblem } from "../transitions/setup";
import type { Player, Setup } from "../types";

export class Draft {
  open = $state(false);
  setup: Setup = $state({ ...STANDARD });
  stacks: Stacks = $state([]);
  placing: "0" | "1" | "erase" = $state("0");
  problem = $state("");

  readonly counts = $derived(countOf(this.stacks));
  /** The first player has as many discs as the second, or one more. */
  readonly isBalanced = $derived(this.counts[0] === this.counts[1] || this.counts[0] === this.counts[1] + 1);
  readonly setupProblem = $derived(setupProblem(this.setup));
  readonly board = $derived(boardOf(this.stacks, this.setup));
  readonly shown = $derived(shownAfter({ setup: this.setup, board: this.board, columns: [], first: 0 }));
  /** The player whose disc is placed next, or null while discs are removed. */
  readonly dropper: Player | null = $derived(this.placing === "erase" ? null : this.placing === "0" ? 0 : 1);
  readonly isEmpty = $derived(this.counts[0] + this.counts[1] === 0);

  begin(setup: Setup, board: string | null): void {
    this.setup = { ...setup };
    this.stacks = stacksOf(board, setup);
    this.placing = "0";
    this.problem = "";
    this.open = true;
  }

  /** Places or removes a disc; returns whether the column allowed it. */
  place(column: number): boolean {
    const stack = this.stacks[column - 1];
    if (!stack) return false;
    this.problem = "";
    if (this.placing === "erase") return stack.pop() !== undefined;
    if (stack.length >= this.setup.rows) return false;
    stack.push(this.placing === "0" ? 0 : 1);
    // Alternate colours, as in a game.
    this.placing = this.placing === "0" ? "1" : "0";
    return true;
  }

  /** A board of another size keeps the discs that still fit. */
  resize(change: Partial<Setup>): void {
    this.setup = { ...this.setup, ...change };
    if (this.setupProblem) return;
    this.stacks = Array.from({ length: this.setup.cols }, (_, index) => (this.stacks[index] ?? []).slice(0, this.setup.rows));
  }

  clear(): void {
    this.stacks = stacksOf(null, this.setup);
    this.problem = "";
  }
}
