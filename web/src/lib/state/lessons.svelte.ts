/** The progress in the lessons, stored in the browser. */

import { readStored, store } from "../storage";
import { doneCount, keyOf, NO_PROGRESS, parseProgress, type Progress } from "../transitions/lessons";

const KEY = "claimeven.lessons";

class LessonsState {
  progress: Progress = $state.raw(parseProgress(readStored(KEY)));
  readonly done = $derived(doneCount(this.progress));

  solve(lesson: string, exercise: number): void {
    const key = keyOf(lesson, exercise);
    if (!this.progress.solved.includes(key)) this.keep({ ...this.progress, solved: [...this.progress.solved, key] });
  }

  isSolved(lesson: string, exercise: number): boolean {
    return this.progress.solved.includes(keyOf(lesson, exercise));
  }

  reset(): void {
    this.keep(NO_PROGRESS);
  }

  private keep(progress: Progress): void {
    this.progress = progress;
    store(KEY, JSON.stringify(progress));
  }
}

export const lessons = new LessonsState();
