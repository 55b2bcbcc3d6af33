import { describe, expect, it } from "vitest";
import { fall } from "./fall";

describe("a falling disc", () => {
  it("starts at its height and ends at rest", () => {
    const { height } = fall(500);
    expect(height(0)).toBe(500);
    expect(height(1)).toBeCloseTo(0, 6);
  });

  it("lands, and then rises a little and not above a tenth of the way", () => {
    const { height, duration, landing } = fall(500);
    expect(height(landing / duration)).toBeCloseTo(0, 6);
    const rebound = height((landing + (duration - landing) / 2) / duration);
    expect(rebound).toBeGreaterThan(5);
    expect(rebound).toBeLessThan(50);
  });

  it("never falls below its cell", () => {
    const { height } = fall(620);
    for (let share = 0; share <= 1; share += 0.01) expect(height(share)).toBeGreaterThanOrEqual(0);
  });

  it("takes longer from higher up, but never long", () => {
    expect(fall(600).duration).toBeGreaterThan(fall(100).duration);
    expect(fall(3600).duration).toBeLessThan(1600);
    expect(fall(600).duration).toBeLessThan(700);
  });
});
