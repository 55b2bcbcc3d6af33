import { describe, expect, it } from "vitest";
import { goTo, pairs, step } from "./steps";

describe("stepping", () => {
  it("goes back from the current position, and forward to it again", () => {
    expect(step(null, 3, "back")).toBe(2);
    expect(step(2, 3, "back")).toBe(1);
    expect(step(1, 3, "forward")).toBe(2);
    expect(step(2, 3, "forward")).toBeNull();
    expect(step(null, 3, "forward")).toBeNull();
  });

  it("jumps to both ends and stays there", () => {
    expect(step(null, 3, "first")).toBe(0);
    expect(step(0, 3, "first")).toBe(0);
    expect(step(0, 3, "back")).toBe(0);
    expect(step(1, 3, "last")).toBeNull();
  });

  it("has nowhere to go before the first move", () => {
    for (const way of ["first", "back", "forward", "last"] as const) expect(step(null, 0, way)).toBeNull();
  });

  it("goes to any move", () => {
    expect(goTo(2, 5)).toBe(2);
    expect(goTo(5, 5)).toBeNull();
    expect(goTo(-1, 5)).toBe(0);
  });
});

describe("the move list", () => {
  it("has two moves in a row", () => {
    expect(pairs(["a", "b", "c"])).toEqual([
      { number: 1, moves: ["a", "b"] },
      { number: 2, moves: ["c", undefined] },
    ]);
    expect(pairs([])).toEqual([]);
  });
});
