/** The lab: searches on one position, stepped through side by side, and the comparison of players by depth. */

import { lab as calls } from "../server-research";
import { runsOf, withDepth, type Measurement } from "../transitions/compare";
import { STANDARD } from "../transitions/setup";
import { planOf, type Plan } from "../transitions/tree";
import type { Setup } from "../types";
import { roster } from "./roster.svelte";

export const ALGORITHMS = ["minimax", "alphabeta", "mtdf", "mcts"] as const;
export type Algorithm = (typeof ALGORITHMS)[number];

export interface Pane {
  algorithm: Algorithm;
  plan: Plan;
}

class Lab {
  setup: Setup = $state({ ...STANDARD });
  moves = $state("4455");
  algorithms: Algorithm[] = $state(["minimax", "alphabeta"]);
  depth = $state(3);
  evaluation = $state("");
  simulations = $state(200);

  panes: Pane[] = $state.raw([]);
  searching = $state(false);
  error = $state("");

  /** The current step, the same in all trees; a tree with fewer steps stays at its end. */
  step = $state(0);
  playing = $state(false);
  /** Steps per second. */
  speed = $state(4);
  /** The active tree and the node selected in it. */
  active = $state(0);
  selected = $state(0);

  readonly length = $derived(Math.max(0, ...this.panes.map((pane) => pane.plan.length)));

  private request: AbortController | null = null;
  private frame = 0;

  agentOf(algorithm: Algorithm): string {
    if (algorithm === "mcts") return `mcts:sims=${this.simulations}`;
    const text = withDepth(algorithm, this.depth);
    return this.evaluation ? `${text},eval=${this.evaluation}` : text;
  }

  /** Runs the chosen algorithms one after another; each tree appears when it is ready. */
  async run(): Promise<void> {
    this.stop();
    const request = (this.request = new AbortController());
    this.searching = true;
    this.error = "";
    this.pause();
    const panes: Pane[] = [];
    try {
      for (const algorithm of ALGORITHMS.filter((one) => this.algorithms.includes(one))) {
        const tree = await calls.tree($state.snapshot(this.setup), this.moves, this.agentOf(algorithm), request.signal);
        if (request !== this.request) return;
        panes.push({ algorithm, plan: planOf(tree) });
        this.panes = [...panes];
        this.step = this.length;
        this.active = 0;
        this.selected = 0;
      }
    } catch (failure) {
      if (request !== this.request) return;
      this.panes = panes;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    this.searching = false;
  }

  stop(): void {
    this.request?.abort();
    this.request = null;
    this.searching = false;
  }

  choose(pane: number, node: number): void {
    this.active = pane;
    this.selected = node;
  }

  goTo(step: number): void {
    this.pause();
    this.step = Math.min(this.length, Math.max(0, step));
  }

  play(): void {
    if (this.length === 0) return;
    if (this.step >= this.length) this.step = 0;
    this.playing = true;
    let last = performance.now();
    let due = 0;
    const tick = (now: number): void => {
      if (!this.playing) return;
      due += ((now - last) / 1000) * this.speed;
      last = now;
      const whole = Math.floor(due);
      due -= whole;
      this.step = Math.min(this.length, this.step + whole);
      if (this.step >= this.length) this.playing = false;
      else this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  pause(): void {
    this.playing = false;
    cancelAnimationFrame(this.frame);
  }
}

class Comparison {
  agents: string[] = $state(["minimax", "alphabeta", "mtdf"]);
  minDepth = $state(1);
  maxDepth = $state(6);
  rows: Measurement[] = $state.raw([]);
  /** The number of planned searches, and the current one. */
  planned = $state(0);
  current = $state("");
  running = $state(false);
  error = $state("");
  private request: AbortController | null = null;

  async run(setup: Setup, moves: string): Promise<void> {
    this.cancel();
    const request = (this.request = new AbortController());
    const runs = runsOf($state.snapshot(this.agents), this.minDepth, this.maxDepth, roster.algorithms);
    this.rows = [];
    this.planned = runs.length;
    this.running = true;
    this.error = "";
    /** Players that ran out of time are not searched deeper. */
    const slow = new Set<string>();
    try {
      for (const run of runs) {
        if (slow.has(run.agent)) {
          this.planned -= 1;
          continue;
        }
        this.current = run.text;
        const search = await calls.search(setup, moves, run.text, request.signal);
        if (request !== this.request) return;
        if (search.stopped) slow.add(run.agent);
        this.rows = [...this.rows, { ...run, search }];
      }
    } catch (failure) {
      if (request !== this.request) return;
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
    this.running = false;
  }

  cancel(): void {
    this.request?.abort();
    this.request = null;
    this.running = false;
  }
}

export const lab = new Lab();
export const comparison = new Comparison();
