import { describe, expect, test } from "vitest";
import { en } from "../i18n/en";
import type { Explained, Explanation } from "../types-study";
import { betterOf, drawingOf, stepsOf, stepsToReason, textOf } from "./coach";

const reason: Explanation = {
  winner: 0,
  moves_to_win: 4,
  line: [7, 7],
  kind: "zugzwang",
  proven: true,
  marks: [
    { kind: "move", player: 0, cells: [[7, 1]], number: 1 },
    { kind: "move", player: 1, cells: [[7, 2]], number: 2 },
    { kind: "move", player: 0, cells: [[4, 2]], number: 3 },
    { kind: "pair", player: 0, cells: [[1, 1], [1, 2]], number: null },
    { kind: "held", player: null, cells: [[3, 2], [3, 3]], number: null },
    { kind: "ring", player: 0, cells: [[3, 3]], number: null },
    { kind: "four", player: 0, cells: [[3, 3], [4, 3], [5, 3], [6, 3]], number: null },
  ],
  sentences: [
    { key: "wins_in", winner: 0, moves: 4 },
    { key: "best_play", moves: [7, 7] },
  ],
};
const explained: Explained = { column: 2, sentences: reason.sentences, note: null, reason, better: { column: 5, reason: { ...reason, line: [6], marks: [] } } };

describe("an explanation", () => {
  test("in words, with the colours of the players", () => {
    expect(textOf(reason.sentences, ["Red", "Yellow"], en.coach, false)).toBe("Red wins in 4 moves. Best play: 7-7.");
    expect(textOf(reason.sentences, ["Yellow", "Red"], en.coach, true)).toBe("Yellow wins in 4 moves. Best play: 7-7.");
    const threat = { key: "double_threat" as const, winner: 0 as const, loser: 1 as const, columns: [2, 6] as [number, number] };
    expect(textOf([threat], ["Red", "Yellow"], en.coach, false)).toBe("Red can connect four in columns 2 and 6, and Yellow can block only one.");
    expect(textOf([threat], ["Red", "Yellow"], en.coach, true)).toBe("Red has a double threat in columns 2 and 6; Yellow can block only one.");
  });

  test("is stepped through from the explained move to the reason and its forced moves", () => {
    expect(stepsOf(explained)).toEqual([2, 7, 7, 4]);
    expect(stepsToReason(explained)).toBe(3);
    expect(stepsOf({ ...explained, column: null })).toEqual([7, 7, 4]);
    expect(stepsToReason({ ...explained, column: null })).toBe(2);
    expect(stepsOf(betterOf(explained)!)).toEqual([5, 6]);
    expect(betterOf({ ...explained, better: null })).toBe(null);
  });

  test("draws what is still to come, in the colours of its owners", () => {
    const drawing = drawingOf(reason, 0);
    expect(drawing.texts).toEqual([{ cell: [4, 2], player: 0, text: "3" }]);
    // Once it is played, it is a disc.
    expect(drawingOf(reason, 0, 3).texts).toEqual([]);
    expect(drawing.pairs).toEqual([{ player: 0, cells: [[1, 1], [1, 2]] }]);
    expect([drawing.held, drawing.rings, drawing.fours.length]).toEqual([[[3, 2], [3, 3]], [{ player: 0, cell: [3, 3] }], 1]);
    expect(drawingOf(reason, 1).rings).toEqual([{ player: 1, cell: [3, 3] }]);
  });
});
