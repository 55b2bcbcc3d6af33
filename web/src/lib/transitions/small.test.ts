import { describe, expect, it } from "vitest";
import { backoff } from "./backoff";
import { parseRoute } from "./route";
import { colours, t } from "./samples";
import { DEFAULTS, parseSettings } from "./settings";
import { STANDARD } from "./setup";
import { dateText, outcomeText, summaryName } from "./summary";
import { shortValue } from "./value";
import type { GameSummary } from "../types";

describe("addresses", () => {
  it.each([
    ["/", { page: "home" }],
    ["/new", { page: "new" }],
    ["/new/", { page: "new" }],
    ["/games", { page: "history" }],
    ["/settings", { page: "settings" }],
    ["/about", { page: "about" }],
    ["/game/aB3_-x", { page: "game", id: "aB3_-x" }],
    ["/learn", { page: "learn", id: null }],
    ["/learn/open-three", { page: "learn", id: "open-three" }],
    ["/game/", { page: "missing" }],
    ["/game/a/b", { page: "missing" }],
    ["/game/<b>", { page: "missing" }],
    ["/nothing", { page: "missing" }],
  ])("%s", (path, route) => expect(parseRoute(path)).toEqual(route));
});

describe("stored settings", () => {
  it("are the defaults when there are none or they are damaged", () => {
    for (const text of [null, "", "{", "null", "[]", '"x"', "7"]) expect(parseSettings(text)).toEqual(DEFAULTS);
  });

  it("keep valid values and nothing else", () => {
    const stored = JSON.stringify({ theme: "dark", palette: "neon", sound: "yes", level: 11, name: "x".repeat(99), extra: 1 });
    expect(parseSettings(stored)).toEqual({ ...DEFAULTS, theme: "dark", name: "x".repeat(24) });
  });

  it("round-trip", () => {
    const chosen = { ...DEFAULTS, palette: "clear" as const, sound: true, level: 7, numbers: false };
    expect(parseSettings(JSON.stringify(chosen))).toEqual(chosen);
  });
});

describe("pauses between attempts", () => {
  it("grow up to a limit, with jitter", () => {
    const pauses = [1, 2, 3, 4, 5, 6, 20].map((failures) => backoff(failures, 0.5));
    expect(pauses).toEqual([400, 800, 1600, 3200, 6400, 8000, 8000]);
    expect(backoff(1, 0)).toBe(300);
    expect(backoff(1, 1)).toBe(500);
  });
});

describe("values above the columns", () => {
  it.each([
    ["win", 1, "+1"],
    ["win", 9, "+5"],
    ["loss", 30, "−15"],
    ["draw", 0, "="],
    ["points", 12.4, "12"],
    ["points", -9_999_999, "−−"],
    ["expected", 0.555, "56%"],
  ] as const)("%s %d is %s", (kind, number, text) => expect(shortValue({ kind, number, text: "" })).toBe(text));
});

describe("a game summary", () => {
  const summary: GameSummary = {
    id: "g",
    created: 0,
    setup: STANDARD,
    players: [{ kind: "human", name: "Ada", agent: null, you: true }, { kind: "agent", name: "level:3", agent: "level:3", you: false }],
    first: 0,
    status: "finished",
    moves: "44",
    result: { winner: 0, reason: "line" },
    mine: true,
    listed: false,
  };

  it("says who won and how", () => {
    expect(outcomeText(summary, colours, t)).toBe("You won: four in a row");
    expect(outcomeText({ ...summary, result: { winner: 1, reason: "time" } }, colours, t)).toBe("You lost: you ran out of time");
    expect(outcomeText({ ...summary, result: { winner: null, reason: "board-full" } }, colours, t)).toBe("Draw: the board is full");
    expect(outcomeText({ ...summary, status: "playing", result: null }, colours, t)).toBe("In progress");
  });

  it("names its players", () => {
    expect(summaryName(summary, 0, colours, t)).toBe("You");
    expect(summaryName(summary, 1, colours, t)).toBe("Level 3");
    const hotSeat: GameSummary = { ...summary, players: [summary.players[0], summary.players[0]] };
    expect(summaryName(hotSeat, 1, colours, t)).toBe("Yellow");
    expect(outcomeText(hotSeat, colours, t)).toBe("Red won: four in a row");
  });

  it("has a date if it has a time", () => {
    expect(dateText(Date.UTC(2026, 10, 16))).not.toBe("");
    expect(dateText(Number.NaN)).toBe("");
  });
});
