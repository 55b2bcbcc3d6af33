import { describe, expect, test } from "vitest";
import type { Choice, Review, ReviewMove } from "../types-study";
import { errorsOf, evaluations, judgeAnswer, judgedOf, percent, sideOf, turningPoint } from "./review";
import { STANDARD } from "./setup";

/** A choice with this result and number of plies. */
function choice(column: number, sign: -1 | 0 | 1, plies = 0): Choice {
  const kind = sign > 0 ? "win" : sign < 0 ? "loss" : "draw";
  return { column, value: { kind, number: plies, text: "" }, at_least: sign, at_most: sign, no_loss_within: 0 };
}

function move(player: 0 | 1, judgement: ReviewMove["judgement"], played: Choice | null, best = played): ReviewMove {
  return { column: 4, player, judgement, sign: "", played, best, choices: [played, best].filter((one) => one !== null), estimate: null };
}

describe("a reviewed game", () => {
  const moves = [
    move(1, "best", choice(4, 1, 41)),
    move(0, "blunder", choice(4, -1, 12), choice(3, 0)),
    move(1, "mistake", choice(4, 0), choice(3, 1, 9)),
    move(0, "blunder", choice(4, -1, 2), choice(3, 0)),
    move(0, "unknown", null),
  ];

  test("evaluations from player 0's point of view", () => {
    const all = evaluations({ moves, first: 1, setup: STANDARD });
    expect(all.map(({ winner }) => winner)).toEqual([1, 1, 1, null, 1, undefined]);
    expect(all[0]!.height).toBeLessThan(0);
    expect(all[2]!.height).toBeLessThan(all[1]!.height);
    expect(all[3]!.height).toBe(0);
    // The disc just played is no longer counted.
    expect(all.map(({ value }) => value?.number)).toEqual([41, 40, 11, 0, 1, undefined]);
    const won = evaluations({ moves: [move(0, "best", choice(4, 1, 1))], first: 0, setup: STANDARD });
    expect(won[1]!.value?.number).toBe(0);
  });

  test("errors start with the fastest loss, without opening moves", () => {
    expect(errorsOf({ moves, opening: 0 }, null)).toEqual([3, 2, 1]);
    expect(errorsOf({ moves, opening: 0 }, 0)).toEqual([3, 1]);
    expect(errorsOf({ moves, opening: 2 }, null)).toEqual([3, 2]);
  });

  test("a move that keeps the result is right, even if it is not the best", () => {
    const best = choice(1, 1, 3);
    const sure = { column: 4, value: null, at_least: 1 as const, at_most: 1 as const, no_loss_within: 0 };
    const open = { ...sure, column: 5, at_least: 0 as const };
    const exercise = { best, choices: [best, choice(2, 1, 9), choice(3, 0), sure, open] };
    expect([1, 2, 3, 4, 5, 7].map((column) => judgeAnswer(exercise, column).verdict)).toEqual(["right", "slower", "wrong", "slower", "unsure", "unsure"]);
  });

  test("the mistake that decided the game", () => {
    const turn = (given: ReviewMove[], result: 0 | 1 | null, opening = 0) => turningPoint({ moves: given, opening }, evaluations({ moves: given, first: 1, setup: STANDARD }), result);
    const decided = moves.slice(0, 4);
    expect(turn(decided, 1)).toEqual({ ply: 4, before: null });
    expect(turn(decided.slice(0, 3), null)).toEqual({ ply: 3, before: 1 });
    // Won from start to end, or by an opening move that nobody chose, or not known.
    expect(turn(decided.slice(0, 1), 1)).toBe(null);
    expect(turn(decided, 1, 4)).toBe(null);
    expect(turn([...decided, move(0, "unknown", null), move(1, "best", choice(4, 1, 1))], 1)).toBe(null);
  });

  test("how many moves were judged", () => {
    const player = (judged: number) => ({ moves: 9, judged, blunders: 0, mistakes: 0, slower_wins: 0, faster_losses: 0, only_moves: 0, accuracy: null });
    const players: Review["players"] = [player(4), player(9)];
    expect([judgedOf({ players }, null), judgedOf({ players }, 0)]).toEqual([{ judged: 13, moves: 18 }, { judged: 4, moves: 9 }]);
  });

  test("sides and shares", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((column) => sideOf(column, 7))).toEqual(["left", "left", "middle", "middle", "middle", "right", "right"]);
    expect([percent(1), percent(0.9375), percent(0)]).toEqual(["100%", "93.8%", "0%"]);
  });
});
