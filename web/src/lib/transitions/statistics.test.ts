import { expect, test } from "vitest";
import { en } from "../i18n/en";
import { lessonOf } from "./lessons";
import { bins, costs, LESSON_OF, path, trend } from "./statistics";

const game = (points: number, accuracy: number | null = null) => ({ id: "", created: 0, points, accuracy, theme: null });

test("means over the last games", () => {
  const all = trend([game(1), game(0, 0.5), game(0.5, 1), game(1)], 2);
  expect(all.map(({ score }) => score)).toEqual([1, 0.5, 0.25, 0.75]);
  expect(all.map(({ accuracy }) => accuracy)).toEqual([null, 0.5, 0.75, 1]);
});

test("a line with gaps", () => {
  expect(path([0, 1, null, 0.5], 30, 10)).toBe("M0 10L10 0M30 5");
  expect(path([1], 30, 10)).toBe("M0 0");
  expect(path([], 30, 10)).toBe("");
});

test("bins have no gaps", () => {
  expect(bins([{ moves: 7, games: 2 }, { moves: 8, games: 1 }, { moves: 16, games: 4 }], 4)).toEqual([
    { from: 5, to: 8, games: 3 },
    { from: 9, to: 12, games: 0 },
    { from: 13, to: 16, games: 4 },
  ]);
  expect(bins([], 4)).toEqual([]);
});

test("what costs games, the most frequent theme first", () => {
  const games = [...Array<null>(30).fill(null), "odd-threat", "double-threat", "double-threat"];
  const played = [{ theme: "odd-threat" }, ...games.map((theme) => ({ theme }))];
  expect(costs(played)).toEqual([
    { theme: "double-threat", games: 2, recent: 2 },
    { theme: "odd-threat", games: 2, recent: 1 },
  ]);
  expect(costs([{ theme: null }])).toEqual([]);
});

test("every theme has a name and a lesson", () => {
  expect(Object.keys(LESSON_OF).sort()).toEqual(Object.keys(en.study.puzzles.themes).sort());
  for (const id of Object.values(LESSON_OF)) expect(lessonOf(id)).not.toBeNull();
});
