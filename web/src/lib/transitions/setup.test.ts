import { describe, expect, it } from "vitest";
import { maxRows, noLineFits, setupProblem, STANDARD } from "./setup";

const setup = (cols: number, rows: number, connect = 4) => ({ ...STANDARD, cols, rows, connect });

describe("a board", () => {
  it.each([
    [setup(7, 6), null],
    [setup(35, 2), null],
    [setup(1, 35), null],
    [setup(18, 6), null],
    [setup(19, 6), "large"],
    [setup(12, 12), "large"],
    [setup(36, 1), "cols"],
    [setup(0, 6), "cols"],
    [setup(7, 0), "rows"],
    [setup(Number.NaN, 6), "cols"],
    [setup(7.5, 6), "cols"],
    [setup(7, 6, 1), "connect"],
  ])("%o has the problem %s", (board, problem) => expect(setupProblem(board)).toBe(problem));

  it("has a maximum number of rows", () => {
    for (let cols = 1; cols <= 35; cols++) {
      const rows = maxRows(cols);
      expect(setupProblem(setup(cols, rows))).toBeNull();
      if (rows < 35) expect(setupProblem(setup(cols, rows + 1))).toBe("large");
    }
  });

  it("may be too small for a line", () => {
    expect(noLineFits(setup(3, 3))).toBe(true);
    expect(noLineFits(setup(3, 4))).toBe(false);
  });
});
