import { describe, expect, it } from "vitest";
import { boardHeight, boardWidth, CELL, centre, HEAD, PAD, place, plate } from "./geometry";

const size = { cols: 7, rows: 6 };

describe("cells", () => {
  it("form a grid with row 1 at the bottom", () => {
    expect(centre(1, 6, size)).toEqual({ x: PAD + 50, y: HEAD + PAD + 50 });
    expect(centre(7, 1, size)).toEqual({ x: PAD + 650, y: HEAD + PAD + 550 });
    expect(centre(2, 1, size).x - centre(1, 1, size).x).toBe(CELL);
  });

  it("are mirrored on a flipped board", () => {
    expect(place(1, size, true)).toBe(7);
    expect(centre(1, 3, size, true)).toEqual(centre(7, 3, size));
    expect(centre(4, 3, size, true)).toEqual(centre(4, 3, size));
  });

  it("stay inside boards of every shape", () => {
    for (const shape of [{ cols: 35, rows: 2 }, { cols: 1, rows: 35 }, { cols: 10, rows: 11 }]) {
      for (const [column, row] of [[1, 1], [shape.cols, shape.rows]] as const) {
        const { x, y } = centre(column, row, shape);
        expect(x).toBeGreaterThan(PAD);
        expect(x).toBeLessThan(boardWidth(shape) - PAD);
        expect(y).toBeGreaterThan(HEAD + PAD);
        expect(y).toBeLessThan(boardHeight(shape) - PAD);
      }
    }
  });

  it("include a row above the board for the next disc", () => {
    expect(centre(3, 7, size).y).toBeLessThan(HEAD);
  });

  it("are holes in the plate, one each", () => {
    expect(plate(size).split("M")).toHaveLength(1 + 1 + 42);
  });
});
