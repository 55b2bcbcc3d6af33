import { describe, expect, test } from "vitest";
import type { ReviewMove } from "../types-study";
import { errorsOf, percent, sideOf, standings, tried } from "./review";
import { STANDARD } from "./setup";

const choice = (column: number, score: number) => ({ column, score, value: score > 0 ? "wins in 3" : score < 0 ? "loses in 4" : "draw" });
function move(player: 0 | 1, judgement: ReviewMove["judgement"], played: number | null, best = played): ReviewMove {
  return {
    column: 4,
    player,
    judgement,
    sign: "",
    played: played === null ? null : choice(4, played),
    best: best === null ? null : choice(3, best),
    choices: played === null ? [] : [choice(3, best ?? 0), choice(4, played), choice(5, -2)],
  };
}

describe("a judged game", () => {
  const moves = [move(1, "best", 1), move(0, "blunder", -5, 0), move(1, "mistake", 0, 4), move(0, "unknown", null)];

  test("how it stood, seen from player 0", () => {
    const all = standings({ moves, first: 1, setup: STANDARD });
    expect(all.map(({ winner }) => winner)).toEqual([1, 1, 1, null, undefined]);
    expect(all[0]!.height).toBeLessThan(0);
    expect(all[2]!.height).toBeLessThan(all[1]!.height);
    expect(all[2]!.discs).toBe(4);
    expect(all[3]!.height).toBe(0);
  });

  test("errors of one player or of both, without the moves that were given", () => {
    expect(errorsOf({ moves, opening: 0 }, null)).toEqual([1, 2]);
    expect(errorsOf({ moves, opening: 0 }, 0)).toEqual([1]);
    expect(errorsOf({ moves, opening: 2 }, null)).toEqual([2]);
  });

  test("a move that keeps the result is right, and may not be the best", () => {
    const asked = { ...move(0, "mistake", 0, 9), choices: [choice(1, 9), choice(2, 3), choice(3, 0)], best: choice(1, 9) };
    expect(tried(asked, 1)).toMatchObject({ right: true, best: true });
    expect(tried(asked, 2)).toMatchObject({ right: true, best: false });
    expect(tried(asked, 3)).toMatchObject({ right: false });
    expect(tried(asked, 7)).toEqual({ right: false, best: false, choice: null });
  });

  test("sides and shares", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((column) => sideOf(column, 7))).toEqual(["left", "left", "middle", "middle", "middle", "right", "right"]);
    expect([percent(1), percent(0.9375), percent(0)]).toEqual(["100%", "93.8%", "0%"]);
  });
});
