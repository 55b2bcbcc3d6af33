/** The fall of a disc: free fall, then one small bounce. */

import { centre, HEAD, type Size } from "./geometry";

/** Gravity in units per second squared, chosen for its looks. */
const GRAVITY = 6400;
/** The share of its speed that a disc keeps when it lands. */
const BOUNCE = 0.2;

export interface Fall {
  /** Milliseconds until the disc is at rest. */
  duration: number;
  /** Milliseconds until it first lands. */
  landing: number;
  /** The height above its cell, in the units of `distance`, at a fraction of the duration. */
  height: (share: number) => number;
}

/** The fall of a disc to a row, from above the board. */
export function fallTo(row: number, size: Size): Fall {
  return fall(centre(1, row, size).y - HEAD / 2);
}

export function fall(distance: number): Fall {
  const landing = Math.sqrt((2 * distance) / GRAVITY);
  const rebound = BOUNCE * GRAVITY * landing;
  const duration = landing + (2 * rebound) / GRAVITY;
  return {
    duration: duration * 1000,
    landing: landing * 1000,
    height(share) {
      const time = share * duration;
      if (time <= landing) return distance - (GRAVITY / 2) * time * time;
      const after = Math.min(time, duration) - landing;
      return Math.max(0, rebound * after - (GRAVITY / 2) * after * after);
    },
  };
}
