import { expect, test } from "vitest";
import type { Iteration } from "../types-research";
import { eloOfShare, gateShare, ratings, series, speeds, timeText } from "./training";

const iteration = (number: number, more: Partial<Iteration> = {}): Iteration => ({
  iteration: number, best: 1, games: 0, samples: 0, evaluations: 0, seconds: 10 * number, self_play_seconds: 4, learning_seconds: 2,
  test_seconds: 1, buffer: 0, results: [10, 2, 8], moves_per_game: 20, rate: 0.1, policy_loss: 1, value_loss: 0.5, gate: null, exam: null, ...more,
});

test("ratings are relative to the best network at that time", () => {
  const history = [
    iteration(1),
    iteration(2, { gate: { wins: 30, draws: 0, losses: 10 }, best: 2 }),
    iteration(3, { best: 2 }),
    iteration(4, { gate: { wins: 20, draws: 0, losses: 20 }, best: 2 }),
    iteration(6, { gate: { wins: 30, draws: 0, losses: 10 }, best: 6 }),
  ];
  expect(ratings(history)).toEqual([{ x: 1, y: 0 }, { x: 2, y: 191 }, { x: 4, y: 191 }, { x: 6, y: 382 }]);
  expect(ratings([])).toEqual([]);
});

test("a clean sweep has a finite difference", () => {
  expect(gateShare({ wins: 1, draws: 2, losses: 1 })).toBe(0.5);
  expect(eloOfShare(0.5, 40)).toBe(0);
  expect(Number.isFinite(eloOfShare(1, 40))).toBe(true);
  expect(eloOfShare(1, 40)).toBeCloseTo(-eloOfShare(0, 40));
});

test("series skip missing values", () => {
  const exam = { policy_error: 0.2, search_error: 0.1, value_error: 0.3 };
  expect(series("x", [iteration(1), iteration(2, { exam })], (one) => one.exam?.policy_error)).toEqual({ name: "x", points: [{ x: 2, y: 0.2 }] });
  expect(speeds([iteration(3)])).toEqual([{ x: 3, y: 5 }]);
});

test("times have the form of a clock", () => {
  expect([0.2, 65.9, 7445].map(timeText)).toEqual(["0:00", "1:05", "2:04:05"]);
});
