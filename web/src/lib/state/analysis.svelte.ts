/** The analysis board: a tree of moves, where one is in it, and what is known of that position. */

import { ServerError } from "../server";
import { studyServer } from "../server-study";
import { addressOf, parseAddress, shownAfter, type Address } from "../transitions/analysis";
import { letterOfColumn, type Shown } from "../transitions/position";
import { sameSetup, STANDARD } from "../transitions/setup";
import { movesTo, noVariations, play, playAll, promote, remove, rename, ROOT, walk, type Place, type Variations, type Way } from "../transitions/variations";
import type { Player, Setup } from "../types";
import type { Analysis, Opinion } from "../types-study";

/** Somebody's opinion of the position on the board. */
export interface Voice {
  agent: string;
  opinion: Opinion | null;
  error: string;
}

const REMEMBERED = 400;
/** Who steps through moves quickly does not ask everyone at every step. */
const SETTLE_MS = 200;

class AnalysisState {
  setup: Setup = $state.raw(STANDARD);
  board: string | null = $state(null);
  first: Player = $state(0);
  tree: Variations = $state.raw(noVariations());
  at = $state(ROOT);
  flipped = $state(false);
  /** What the server says of the position on the board. */
  truth: Analysis | null = $state.raw(null);
  /** A longer look is under way. */
  looking = $state(false);
  error = $state("");
  voices: Voice[] = $state.raw([]);

  readonly line = $derived(movesTo(this.tree, this.at));
  readonly address: Address = $derived({ setup: this.setup, board: this.board, columns: this.line.map((move) => move.column), first: this.first });
  readonly link = $derived(addressOf(this.address));
  readonly shown: Shown = $derived(shownAfter(this.address, this.truth?.lines));
  /** Whose turn it is, by colour. */
  readonly toMove: Player | null = $derived(this.truth && this.truth.to_move !== null ? (((this.truth.to_move + this.first) % 2) as Player) : null);
  readonly winner: Player | null = $derived(this.truth?.over && this.truth.over.winner !== null ? (((this.truth.over.winner + this.first) % 2) as Player) : null);

  private opened = false;
  private known = new Map<string, Analysis>();
  private request: AbortController | null = null;
  private settle: ReturnType<typeof setTimeout> | undefined;

  /** Shows what an address says. One that says nothing leaves the board as it was left, and so does that of the position
      on the board. */
  open(search: string): void {
    const address = parseAddress(search);
    const link = addressOf(address);
    if (this.opened && (link === "/analysis" || link === this.link)) {
      if (!this.truth && !this.request) this.ask(0);
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
    // Who plays faster than the server answers is believed; it will say if the game was over.
    const free = column >= 1 && column <= this.setup.cols && (this.shown.heights[column - 1] ?? 0) < this.setup.rows;
    if (this.truth ? !this.truth.legal.includes(column) : !free) return false;
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

  hear(agent: string, wanted: boolean): void {
    const others = this.voices.filter((voice) => voice.agent !== agent);
    this.voices = wanted ? [...others, { agent, opinion: null, error: "" }] : others;
    if (wanted) this.ask(0);
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
    this.truth = this.known.get(this.key()) ?? null;
    this.voices = this.voices.map(({ agent }) => ({ agent, opinion: null, error: "" }));
    this.ask(SETTLE_MS);
  }

  private key(): string {
    const { cols, rows, connect, ruleset } = this.setup;
    return `${cols},${rows},${connect},${ruleset},${this.board ?? ""},${this.moves()}`;
  }

  private moves(): string {
    return this.line.map((move) => letterOfColumn(move.column)).join("");
  }

  /** Asks for the truth at once, and for opinions when the board has come to rest. */
  private ask(settle: number): void {
    this.leave();
    const request = new AbortController();
    this.request = request;
    void this.learn(request.signal);
    if (this.voices.some((voice) => voice.opinion === null && !voice.error)) {
      this.settle = setTimeout(() => void this.consult(request.signal), settle);
    }
  }

  private async learn(signal: AbortSignal): Promise<void> {
    const position = { setup: this.setup, board: this.board, moves: this.moves() };
    const key = this.key();
    try {
      let truth = this.known.get(key) ?? (await studyServer.analyze(position, false, signal));
      if (signal.aborted) return;
      this.remember(key, truth);
      if (truth.exact) return;
      this.looking = true;
      truth = await studyServer.analyze(position, true, signal);
      if (!signal.aborted) this.remember(key, truth);
    } catch (failure) {
      if (signal.aborted) return;
      const error = failure instanceof ServerError ? failure.message : String(failure);
      // A move that the rules do not allow is taken back.
      if (failure instanceof ServerError && failure.status === 400 && this.at !== ROOT) this.remove(this.at);
      this.error = error;
    } finally {
      if (!signal.aborted) this.looking = false;
    }
  }

  private remember(key: string, truth: Analysis): void {
    this.truth = truth;
    if (!sameSetup(truth.setup, this.setup)) return;
    if (this.known.size >= REMEMBERED) this.known.clear();
    if (truth.exact) this.known.set(key, truth);
  }

  /** One after the other, so that the server's other guests have their turn. */
  private async consult(signal: AbortSignal): Promise<void> {
    const position = { setup: this.setup, board: this.board, moves: this.moves() };
    for (const { agent, opinion } of this.voices) {
      if (opinion || this.truth?.over) continue;
      const said = (found: Partial<Voice>): void => {
        if (!signal.aborted) this.voices = this.voices.map((voice) => (voice.agent === agent ? { ...voice, ...found } : voice));
      };
      try {
        said({ opinion: await studyServer.opinion(position, agent, signal) });
      } catch (failure) {
        said({ error: failure instanceof Error ? failure.message : String(failure) });
      }
      if (signal.aborted) return;
    }
  }
}

export const analysis = new AnalysisState();
