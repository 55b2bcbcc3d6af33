import { expect, test } from "vitest";
import type { Puzzle } from "../types-study";
import { nextPuzzle, NOTHING_SOLVED, ofGrade, parseSolved, previousPuzzle, solve } from "./puzzles";

const puzzle = (moves: string, grade: number): Puzzle => ({ moves, goal: "win", discs: 3, grade, column: 4 });
const all = [puzzle("a", 1), puzzle("b", 1), puzzle("c", 2), puzzle("d", 1)];

test("the next one of a grade is the next that is not solved", () => {
  expect(ofGrade(all, 1)).toEqual([0, 1, 3]);
  expect(nextPuzzle(all, 1, NOTHING_SOLVED, 0)).toBe(1);
  const one = solve(NOTHING_SOLVED, all[1]!, true);
  expect(nextPuzzle(all, 1, one, 0)).toBe(3);
  expect(nextPuzzle(all, 1, one, 3)).toBe(0);
  const every = all.reduce((known, each) => solve(known, each, true), NOTHING_SOLVED);
  expect(nextPuzzle(all, 0, every, 3)).toBe(0);
  expect(nextPuzzle(all, 5, NOTHING_SOLVED, 2)).toBe(2);
  expect([previousPuzzle(all, 1, 3), previousPuzzle(all, 1, 0)]).toEqual([1, 3]);
});

test("solved once counts once, and a second try ends the row", () => {
  const twice = solve(solve(NOTHING_SOLVED, all[0]!, true), all[0]!, true);
  expect(twice).toEqual({ solved: ["a"], streak: 2 });
  expect(solve(twice, all[1]!, false)).toEqual({ solved: ["a", "b"], streak: 0 });
});

test("what was kept comes back, and nonsense is nothing", () => {
  expect(parseSolved(JSON.stringify({ solved: ["a"], streak: 2 }))).toEqual({ solved: ["a"], streak: 2 });
  for (const text of [null, "", "3", "null", "{}", '{"solved":3}', "[]"]) expect(parseSolved(text)).toEqual(NOTHING_SOLVED);
});
