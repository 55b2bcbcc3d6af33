import { describe, expect, it } from "vitest";
import { clockText, countText, durationText, remaining, thinkingTime } from "./clock";
import { seated, view } from "./samples";

describe("clocks", () => {
  const clock = { initial_ms: 60_000, increment_ms: 0, remaining_ms: [30_000, 40_000] as [number, number], running: 0 as const };

  it("run for the player to move, and not below zero", () => {
    const game = view([], { clock });
    expect(remaining(game, 0, 1_500)).toBe(28_500);
    expect(remaining(game, 1, 1_500)).toBe(40_000);
    expect(remaining(game, 0, 99_000)).toBe(0);
  });

  it("stop when the game is over", () => {
    expect(remaining(view([], { clock: { ...clock, running: null } }), 0, 9_000)).toBe(30_000);
  });

  it("count the thinking time of the player to move", () => {
    const players: [ReturnType<typeof seated>, ReturnType<typeof seated>] = [seated({ time_ms: 4_000 }), seated({ time_ms: 7_000 })];
    expect(thinkingTime(view([], { players }), 0, 500)).toBe(4_500);
    expect(thinkingTime(view([], { players }), 1, 500)).toBe(7_000);
    expect(thinkingTime(view([], { players, status: "finished" }), 0, 500)).toBe(4_000);
  });
});

describe("times in words", () => {
  it.each([
    [0, "0:00"],
    [59_999, "0:59"],
    [60_000, "1:00"],
    [754_000, "12:34"],
    [3_723_000, "1:02:03"],
  ])("%d ms have passed as %s", (ms, text) => expect(clockText(ms)).toBe(text));

  it.each([
    [0, "0:00.0"],
    [50, "0:00.1"],
    [9_300, "0:09.3"],
    [20_000, "0:20"],
    [59_001, "1:00"],
    [300_000, "5:00"],
  ])("%d ms are left as %s", (ms, text) => expect(clockText(ms, true)).toBe(text));

  it.each([
    [0, "0 s"],
    [12, "0.01 s"],
    [340, "0.3 s"],
    [12_400, "12 s"],
    [125_000, "2 min 5 s"],
  ])("a move of %d ms took %s", (ms, text) => expect(durationText(ms)).toBe(text));

  it.each([
    [0, "0"],
    [9_999, "9,999"],
    [12_345, "12.3 k"],
    [999_960, "1.0 M"],
    [4_560_000, "4.6 M"],
    [2_500_000_000, "2.5 G"],
  ])("%d nodes are %s", (count, text) => expect(countText(count)).toBe(text));
});
