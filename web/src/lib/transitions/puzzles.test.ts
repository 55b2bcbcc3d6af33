import { expect, test } from "vitest";
import type { Puzzle } from "../types-study";
import { easiest, filterPuzzles, isFirstTry, nextPuzzle, NOTHING_SOLVED, parseSolved, previousPuzzle, solutionOf, solve, themesOf } from "./puzzles";

const puzzle = (moves: string, grade: number, discs = 3, themes = ["double-threat"]): Puzzle => ({ moves, goal: discs > 0 ? "win" : "draw", discs, grade, column: 4, themes, rating: 1000 + 100 * grade, tried: 0, solved: 0 });
const all = [puzzle("a", 1), puzzle("b", 1, 0, ["save-the-draw"]), puzzle("c", 2), puzzle("d", 1, 1, ["win-now"])];
const of = (grade: number, theme = "") => ({ grade, theme });

test("the next puzzle is the next unsolved one that passes the filter", () => {
  expect(filterPuzzles(all, of(1))).toEqual([0, 1, 3]);
  expect(filterPuzzles(all, of(0, "double-threat"))).toEqual([0, 2]);
  expect(nextPuzzle(all, of(1), NOTHING_SOLVED, 0)).toBe(1);
  const one = solve(NOTHING_SOLVED, all[1]!, true);
  expect(nextPuzzle(all, of(1), one, 0)).toBe(3);
  expect(nextPuzzle(all, of(1), one, 3)).toBe(0);
  const every = all.reduce((known, each) => solve(known, each, true), NOTHING_SOLVED);
  expect(nextPuzzle(all, of(0), every, 3)).toBe(0);
  expect(nextPuzzle(all, of(5), NOTHING_SOLVED, 2)).toBe(2);
  expect([previousPuzzle(all, of(1), 3), previousPuzzle(all, of(1), 0)]).toEqual([1, 3]);
});

test("the first puzzle is the easiest unsolved one", () => {
  expect(easiest(all, of(0), NOTHING_SOLVED)).toBe(3);
  expect(easiest(all, of(0), solve(NOTHING_SOLVED, all[3]!, true))).toBe(0);
  expect(easiest(all, of(2), NOTHING_SOLVED)).toBe(2);
  // What players found hard comes later.
  expect(easiest([{ ...all[0]!, rating: 1900 }, all[2]!], of(0), NOTHING_SOLVED)).toBe(1);
  const themes = themesOf(all, solve(NOTHING_SOLVED, all[2]!, true));
  expect(themes).toEqual([
    { theme: "double-threat", all: 2, solved: 1 },
    { theme: "save-the-draw", all: 1, solved: 0 },
    { theme: "win-now", all: 1, solved: 0 },
  ]);
  expect(solutionOf(all[0]!)).toMatchObject({ column: 4, at_least: 1, value: { kind: "win", number: 5 } });
});

test("a puzzle counts once, and a second try ends the streak", () => {
  const twice = solve(solve(NOTHING_SOLVED, all[0]!, true), all[0]!, true);
  expect(twice).toEqual({ solved: ["a"], streak: 2, tried: [] });
  expect(solve(twice, all[1]!, false)).toEqual({ solved: ["a", "b"], streak: 0, tried: [] });
  expect(isFirstTry(twice, all[0]!)).toBe(false);
  expect(isFirstTry({ ...NOTHING_SOLVED, tried: ["b"] }, all[1]!)).toBe(false);
  expect(isFirstTry(twice, all[1]!)).toBe(true);
});

test("progress round-trips, and invalid data is ignored", () => {
  const kept = { solved: ["a"], streak: 2, tried: ["a", "b"] };
  expect(parseSolved(JSON.stringify(kept))).toEqual(kept);
  // Stored before tries were counted.
  expect(parseSolved(JSON.stringify({ solved: ["a"], streak: 2 }))).toEqual({ solved: ["a"], streak: 2, tried: [] });
  for (const text of [null, "", "3", "null", "{}", '{"solved":3}', "[]"]) expect(parseSolved(text)).toEqual(NOTHING_SOLVED);
});
