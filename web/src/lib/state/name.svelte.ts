/** The person's name, asked for once, when it is first needed. */

import { settings } from "./settings.svelte";

class NamePrompt {
  open = $state(false);
  private answer: ((given: boolean) => void) | null = null;

  /** Whether the person has a name, now at the latest. */
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
