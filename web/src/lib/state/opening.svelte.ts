/** The opening trainer's cards and boxes, stored in the browser. */

import data from "../learn/opening.json";
import { answered, Opening, type Boxes, type Card } from "../transitions/opening";

const KEY = "claimeven.opening";

class OpeningState {
  readonly tree = new Opening(data as Card[]);
  boxes: Boxes = $state.raw(this.tree.parse(read()));

  answer(card: Card, right: boolean): void {
    this.keep(answered(this.boxes, card, right, Date.now()));
  }

  reset(): void {
    this.keep({});
  }

  private keep(boxes: Boxes): void {
    this.boxes = boxes;
    try {
      localStorage.setItem(KEY, JSON.stringify(boxes));
    } catch {
      // Without storage, progress lasts as long as the page.
    }
  }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export const opening = new OpeningState();
