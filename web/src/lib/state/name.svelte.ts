/** The user's name, asked for once, when it is first needed. */

import { settings } from "./settings.svelte";

class NamePrompt {
  open = $state(false);
  private answer: ((given: boolean) => void) | null = null;

  /** Asks for a name if there is none yet. Returns whether there is one. */
  ask(): Promise<boolean> {
    if (settings.all.name.trim()) return Promise.resolve(true);
    this.done(false);
    this.open = true;
    return new Promise((resolve) => (this.answer = resolve));
  }

  done(given: boolean): void {
    this.open = false;
    this.answer?.(given);
    this.answer = null;
  }
}

export const namePrompt = new NamePrompt();
