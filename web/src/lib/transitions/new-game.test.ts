import { describe, expect, it } from "vitest";
import { clockProblem, defaultForm, newGame } from "./new-game";

const form = defaultForm(3, "");

describe("a new game", () => {
  it("is against a level, and the user starts", () => {
    expect(newGame(form)).toEqual({
      setup: { cols: 7, rows: 6, connect: 4, ruleset: "standard" },
      seats: [{ kind: "human" }, { kind: "agent", agent: "level:3" }],
      first: 0,
      clock: null,
    });
  });

  it("seats the user by colour, and keeps who starts", () => {
    const yellow = newGame({ ...form, colour: 1, first: "you" });
    expect(yellow.seats.map((seat) => seat.kind)).toEqual(["agent", "human"]);
    expect(yellow.first).toBe(1);
    expect(newGame({ ...form, colour: 1, first: "other" }).first).toBe(0);
    expect(newGame({ ...form, first: "random" }).first).toBeNull();
  });

  it("has an open seat for a friend, and the user's name", () => {
    expect(newGame({ ...form, kind: "friend", name: " Ada " }).seats).toEqual([{ kind: "human", name: "Ada" }, { kind: "open" }]);
  });

  it("is local for two people, whatever colour was chosen before", () => {
    const two = newGame({ ...form, kind: "two", colour: 1, first: "other" });
    expect(two.seats).toEqual([{ kind: "human" }, { kind: "human" }]);
    expect(two.first).toBe(1);
  });

  it("has two agents to watch, red first", () => {
    const watch = newGame({ ...form, kind: "watch", agents: ["random", "perfect"], colour: 1 });
    expect(watch.seats.map((seat) => seat.kind === "agent" && seat.agent)).toEqual(["random", "perfect"]);
    expect(watch.first).toBe(0);
  });

  it("has a clock in milliseconds", () => {
    expect(newGame({ ...form, clock: { minutes: 2.5, increment: 3 } }).clock).toEqual({ initial_ms: 150_000, increment_ms: 3_000 });
  });

  it("rejects invalid clocks", () => {
    expect(clockProblem(null)).toBe(false);
    expect(clockProblem({ minutes: 3, increment: 0 })).toBe(false);
    expect(clockProblem({ minutes: 0, increment: 5 })).toBe(true);
    expect(clockProblem({ minutes: 0.01, increment: 5 })).toBe(true);
    expect(clockProblem({ minutes: 0.05, increment: 0 })).toBe(false);
    expect(clockProblem({ minutes: Number.NaN, increment: 5 })).toBe(true);
    expect(clockProblem({ minutes: 5, increment: -1 })).toBe(true);
  });
});
