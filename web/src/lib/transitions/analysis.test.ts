import { describe, expect, test } from "vitest";
import type { Setup } from "../types";
import { addressOf, barShare, boardOf, certainty, countOf, isLasting, kindOf, parseAddress, shortResult, shownAfter, stacksOf } from "./analysis";
import { STANDARD } from "./setup";

const small: Setup = { cols: 3, rows: 2, connect: 3, ruleset: "lines" };

describe("addresses", () => {
  test("round-trip", () => {
    for (const address of [
      { setup: STANDARD, board: null, columns: [], first: 0 as const },
      { setup: STANDARD, board: null, columns: [4, 4, 5, 3], first: 1 as const },
      { setup: small, board: ".../XO.", columns: [3], first: 0 as const },
      { setup: { ...STANDARD, cols: 12, rows: 8 }, board: null, columns: [10, 12], first: 0 as const },
    ]) {
      const text = addressOf(address);
      expect(parseAddress(text.slice(text.indexOf("?")).replace("/analysis", ""))).toEqual(address);
    }
    expect(addressOf({ setup: STANDARD, board: null, columns: [4, 10], first: 0 })).toBe("/analysis?pos=4a");
  });

  test("invalid input is the empty board", () => {
    expect(parseAddress("?cols=99&rows=x&board=XX")).toEqual({ setup: STANDARD, board: null, columns: [], first: 0 });
  });
});

describe("custom positions", () => {
  test("are parsed from the bottom up and printed again", () => {
    const board = ".O./XX.";
    expect(stacksOf(board, small)).toEqual([[0], [0, 1], []]);
    expect(boardOf(stacksOf(board, small), small)).toBe(board);
    expect(countOf(stacksOf(board, small))).toEqual([2, 1]);
  });

  test("continue with the right turn and the given colours", () => {
    const shown = shownAfter({ setup: small, board: ".../XO.", columns: [3, 3, 3], first: 1 }, [[[1, 1], [2, 1]]]);
    expect(shown.heights).toEqual([1, 1, 2]);
    expect(shown.discs.map(({ player }) => player)).toEqual([1, 0, 1, 0]);
    expect(shown.last).toEqual({ column: 3, row: 2, player: 0, ply: 2 });
    expect(new Set(shown.discs.map(({ ply }) => ply)).size).toBe(4);
    expect(shown.lines[0]?.player).toBe(1);
    const odd = shownAfter({ setup: small, board: ".../X..", columns: [1], first: 0 });
    expect(odd.last?.player).toBe(1);
  });
});

describe("what is known about a move", () => {
  const result = (at_least: -1 | 0 | 1, at_most: -1 | 0 | 1) => ({ column: 1, value: null, at_least, at_most, no_loss_within: 0 });
  test("in a few characters", () => {
    expect(shortResult({ ...result(1, 1), value: { kind: "win", number: 5, text: "" } })).toBe("+3");
    expect([result(1, 1), result(-1, -1), result(0, 1), result(-1, 0), result(-1, 1), result(0, 0)].map(shortResult)).toEqual(["+", "−", "≥ =", "≤ =", "–", "="]);
    expect([result(1, 1), result(-1, -1), result(0, 1), result(0, 0)].map(kindOf)).toEqual(["win", "loss", "open", "draw"]);
  });

  test("of a position follows from its best moves", () => {
    const columns = [null, result(-1, -1), { ...result(-1, 1), no_loss_within: 6 }, result(-1, 0)];
    expect(certainty({ value: null, columns })).toEqual({ value: null, at_least: -1, at_most: 1, no_loss_within: 6 });
    expect(certainty({ value: null, columns: [result(1, 1), result(-1, 0)] })).toMatchObject({ at_least: 1, at_most: 1 });
    expect(certainty({ value: null, columns: [null] })).toMatchObject({ at_least: -1, at_most: 1 });
  });

  test("the bar favours the winner, the more the sooner the game ends", () => {
    const win = (number: number) => barShare({ kind: "win", number, text: "" }, 42);
    expect(barShare(null, 42)).toBe(0.5);
    expect(win(1)).toBeGreaterThan(win(41));
    expect(win(41)).toBeGreaterThan(0.6);
    expect(barShare({ kind: "loss", number: 2, text: "" }, 42)).toBeLessThan(0.1);
  });

  test("odd threats of the first player and even threats of the second are lasting", () => {
    const at = (row: number) => ({ cell: [1, row] as [number, number], open: false, odd: row % 2 === 1 });
    expect([isLasting(at(3), 0, 6), isLasting(at(4), 0, 6), isLasting(at(4), 1, 6), isLasting(at(3), 0, 5)]).toEqual([true, false, true, false]);
  });
});
