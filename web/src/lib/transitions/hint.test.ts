import { describe, expect, it } from "vitest";
import type { Hint, Value } from "../types";
import { areaColumns, areaOf, reasonOf } from "./hint";

const value = (kind: Value["kind"], number: number): Value => ({ kind, number, text: "" });
const hint = (column: number, values: (Value | null)[], exact = true): Hint => ({
  column,
  value: values[column - 1]!,
  columns: values.map((one, index) => one && { column: index + 1, value: one, bound: "exact" }),
  exact,
});

describe("the area of a hint", () => {
  it("is a third of the displayed board", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((column) => areaOf(column, 7, false))).toEqual(["left", "left", "middle", "middle", "middle", "right", "right"]);
    expect(areaOf(1, 7, true)).toBe("right");
    expect(areaColumns(7, 7, false)).toEqual([6, 7]);
    expect(areaColumns(1, 1, false)).toEqual([1]);
  });
});

describe("the reason of a hint", () => {
  const [win, draw] = [value("win", 1), value("draw", 0)];

  it("is the immediate effect of the move", () => {
    expect(reasonOf(hint(2, [draw, win, draw]))).toEqual({ because: "wins-now" });
    expect(reasonOf(hint(1, [draw, value("loss", 2), value("loss", 2)]))).toEqual({ because: "must-block" });
    expect(reasonOf(hint(1, [draw, value("loss", 2), value("loss", 8)]))).toEqual({ because: "only-move" });
  });

  it("is the result of best play, in the user's own moves", () => {
    expect(reasonOf(hint(1, [value("win", 5), draw]))).toEqual({ because: "wins", moves: 3 });
    expect(reasonOf(hint(1, [draw, draw]))).toEqual({ because: "draws" });
    expect(reasonOf(hint(1, [value("loss", 8), value("loss", 2)]))).toEqual({ because: "loses", moves: 4 });
  });

  it("is an opinion if nothing is proven", () => {
    expect(reasonOf(hint(1, [value("points", 9), value("points", 9)], false))).toEqual({ because: "opinion", side: "better" });
    expect(reasonOf(hint(1, [value("expected", 0.5), null], false))).toEqual({ because: "opinion", side: "even" });
    expect(reasonOf(hint(1, [value("points", -1), null], false))).toEqual({ because: "opinion", side: "worse" });
  });
});
