/** The puzzles, and which of them were solved in this browser. */

import { studyServer } from "../server-study";
import { readStored, store } from "../storage";
import { isFirstTry, NOTHING_SOLVED, parseSolved, solve, type Solved } from "../transitions/puzzles";
import type { Puzzle, Puzzles } from "../types-study";

const KEY = "claimeven.puzzles";

class PuzzlesState {
  all: Puzzles | null = $state.raw(null);
  error = $state("");
  solved: Solved = $state.raw(parseSolved(readStored(KEY)));

  async load(): Promise<void> {
    if (this.all) return;
    this.error = "";
    try {
      this.all = await studyServer.puzzles();
    } catch (failure) {
      this.error = failure instanceof Error ? failure.message : String(failure);
    }
  }

  solve(puzzle: Puzzle, atFirst: boolean): void {
    this.keep(solve(this.solved, puzzle, atFirst));
  }

  /** Counts the first try of a puzzle in this browser, for its rating. */
  count(puzzle: Puzzle, solved: boolean): void {
    if (!isFirstTry(this.solved, puzzle)) return;
    this.keep({ ...this.solved, tried: [...this.solved.tried, puzzle.moves] });
    // The rating does not depend on a single try.
    studyServer.tryPuzzle(puzzle.moves, solved).catch(() => {});
  }

  forget(): void {
    // A puzzle that was tried before is not counted again.
    this.keep({ ...NOTHING_SOLVED, tried: [...new Set([...this.solved.tried, ...this.solved.solved])] });
  }

  private keep(solved: Solved): void {
    this.solved = solved;
    store(KEY, JSON.stringify(solved));
  }
}

export const puzzles = new PuzzlesState();
