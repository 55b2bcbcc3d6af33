/** The analysis board: a tree of moves, the current node, and what is known about its position. */

import { ServerError } from "../server";
import { studyServer } from "../server-study";
import { addressOf, parseAddress, shownAfter, type Address } from "../transitions/analysis";
import { letterOfColumn, type Shown } from "../transitions/position";
import { sameSetup, STANDARD } from "../transitions/setup";
import { movesTo, noVariations, play, playAll, promote, remove, rename, ROOT, walk, type Place, type Variations, type Way } from "../transitions/variations";
import type { Player, Setup } from "../types";
import type { Analysis, Opinion } from "../types-study";

/** A player's opinion of the current position. */
export interface AgentOpinion {
  agent: string;
  opinion: Opinion | null;
  error: string;
}

const MAX_CACHED = 400;
/** While stepping quickly through moves, wait this long before asking players for opinions. */
const SETTLE_MS = 200;

class AnalysisState {
  setup: Setup = $state.raw(STANDARD);
  board: string | null = $state(null);
  first: Player = $state(0);
  tree: Variations = $state.raw(noVariations());
  at = $state(ROOT);
  flipped = $state(false);
  /** The server's analysis of the current position. */
  result: Analysis | null = $state.raw(null);
  /** A longer search is running. */
  looking = $state(false);
  error = $state("");
  opinions: AgentOpinion[] = $state.raw([]);

  readonly line = $derived(movesTo(this.tree, this.at));
  readonly address: Address = $derived({ setup: this.setup, board: this.board, columns: this.line.map((move) => move.column), first: this.first });
  readonly link = $derived(addressOf(this.address));
  readonly shown: Shown = $derived(shownAfter(this.address, this.result?.lines));
  /** The colour to move. */
  readonly toMove: Player | null = $derived(this.result && this.result.to_move !== null ? (((this.result.to_move + this.first) % 2) as Player) : null);
  readonly winner: Player | null = $derived(this.result?.outcome && this.result.outcome.winner !== null ? (((this.result.outcome.winner + this.first) % 2) as Player) : null);

  private opened = false;
  private cache = new Map<string, Analysis>();
  private request: AbortController | null = null;
  private settle: ReturnType<typeof setTimeout> | undefined;

  /** Opens the position of a URL. A URL without one, or with the current position, leaves the board as it is. */
  open(search: string): void {
    const address = parseAddress(search);
    const link = addressOf(address);
    if (this.opened && (link === "/analysis" || link === this.link)) {
      if (!this.result && !this.request) this.load(0);
      return;
    }
    this.opened = true;
    this.start(address);
  }

  start({ setup, board, columns, first }: Address): void {
    this.setup = setup;
    this.board = board;
    this.first = first;
    const place = playAll({ tree: noVariations(), at: ROOT }, columns);
    this.move(place);
  }

  clear(setup: Setup = this.setup): void {
    this.start({ setup, board: null, columns: [], first: 0 });
  }

  play(column: number): boolean {
    // Before the server has answered, assume that the game is not over; the server rejects the move if it is.
    const free = column >= 1 && column <= this.setup.cols && (this.shown.heights[column - 1] ?? 0) < this.setup.rows;
    if (this.result ? !this.result.legal.includes(column) : !free) return false;
    this.move(play(this.place, column));
    return true;
  }

  /** Plays the first moves of a line from here. */
  follow(columns: readonly number[]): void {
    this.move(playAll(this.place, columns));
  }

  go(at: number): void {
    this.move({ tree: this.tree, at });
  }

  step(way: Way): void {
    this.go(walk(this.tree, this.at, way));
  }

  remove(id: number): void {
    this.move(remove(this.place, id));
  }

  promote(id: number): void {
    this.tree = promote(this.tree, id);
  }

  rename(id: number, name: string): void {
    this.tree = rename(this.tree, id, name);
  }

  /** Adds or removes a player's opinion. */
  setOpinion(agent: string, wanted: boolean): void {
    const others = this.opinions.filter((one) => one.agent !== agent);
    this.opinions = wanted ? [...others, { agent, opinion: null, error: "" }] : others;
    if (wanted) this.load(0);
  }

  leave(): void {
    this.request?.abort();
    this.request = null;
    clearTimeout(this.settle);
    this.looking = false;
  }

  private get place(): Place {
    return { tree: this.tree, at: this.at };
  }

  private move({ tree, at }: Place): void {
    this.tree = tree;
    this.at = at;
    this.error = "";
    this.result = this.cache.get(this.key()) ?? null;
    this.opinions = this.opinions.map(({ agent }) => ({ agent, opinion: null, error: "" }));
    this.load(SETTLE_MS);
  }

  private key(): string {
    const { cols, rows, connect, ruleset } = this.setup;
    return `${cols},${rows},${connect},${ruleset},${this.board ?? ""},${this.moves()}`;
  }

  private moves(): string {
    return this.line.map((move) => letterOfColumn(move.column)).join("");
  }

  /** Requests the exact analysis at once, and opinions after `settle` milliseconds. */
  private load(settle: number): void {
    this.leave();
    const request = new AbortController();
    this.request = request;
    void this.loadAnalysis(request.signal);
    if (this.opinions.some(({ opinion, error }) => opinion === null && !error)) {
      this.settle = setTimeout(() => void this.loadOpinions(request.signal), settle);
    }
  }

  private async loadAnalysis(signal: AbortSignal): Promise<void> {
    const position = { setup: this.setup, board: this.board, moves: this.moves() };
    const key = this.key();
    try {
      let result = this.cache.get(key) ?? (await studyServer.analyze(position, false, signal));
      if (signal.aborted) return;
      this.remember(key, result);
      if (result.exact) return;
      this.looking = true;
      result = await studyServer.analyze(position, true, signal);
      if (!signal.aborted) this.remember(key, result);
    } catch (failure) {
      if (signal.aborted) return;
      const error = failure instanceof ServerError ? failure.message : String(failure);
      // Take back a move that the rules do not allow.
      if (failure instanceof ServerError && failure.status === 400 && this.at !== ROOT) this.remove(this.at);
      this.error = error;
    } finally {
      if (!signal.aborted) this.looking = false;
    }
  }

  private remember(key: string, result: Analysis): void {
    this.result = result;
    if (!sameSetup(result.setup, this.setup)) return;
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    if (result.exact) this.cache.set(key, result);
  }

  /** Asks one player after another, so as not to crowd out the server's other visitors. */
  private async loadOpinions(signal: AbortSignal): Promise<void> {
    const position = { setup: this.setup, board: this.board, moves: this.moves() };
    for (const { agent, opinion } of this.opinions) {
      if (opinion || this.result?.outcome) continue;
      const update = (found: Partial<AgentOpinion>): void => {
        if (!signal.aborted) this.opinions = this.opinions.map((one) => (one.agent === agent ? { ...one, ...found } : one));
      };
      try {
        update({ opinion: await studyServer.opinion(position, agent, signal) });
      } catch (failure) {
        update({ error: failure instanceof Error ? failure.message : String(failure) });
      }
      if (signal.aborted) return;
    }
  }
}

export const analysis = new AnalysisState();
