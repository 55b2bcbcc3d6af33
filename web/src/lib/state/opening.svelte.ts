/** The opening trainer's cards and boxes, stored in the browser. */

import data from "../learn/opening.json";
import { readStored, store } from "../storage";
import { answered, Opening, type Boxes, type Card } from "../transitions/opening";

const KEY = "claimeven.opening";

class OpeningState {
  readonly tree = new Opening(data as Card[]);
  boxes: Boxes = $state.raw(this.tree.parse(readStored(KEY)));

  answer(card: Card, right: boolean): void {
    this.keep(answered(this.boxes, card, right, Date.now()));
  }

  reset(): void {
    this.keep({});
  }

  private keep(boxes: Boxes): void {
    this.boxes = boxes;
    store(KEY, JSON.stringify(boxes));
  }
}

export const opening = new OpeningState();
