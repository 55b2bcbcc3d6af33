import { expect, test } from "vitest";
import { crossText, gamesOf, halves, namesOf, planOfForm, share, titleOf, type ArenaForm } from "./arena";
import { parseRoute } from "./route";
import { STANDARD } from "./setup";

const players = [{ agent: "level:1", name: "" }, { agent: "level:1", name: "" }, { agent: "mcts", name: " Carlo " }];
const form: ArenaForm = { title: " Cup ", format: "round-robin", players, games: 10, openings: "", seed: 3, setup: STANDARD };

test("everyone meets everyone, or the first meets all others", () => {
  expect(gamesOf(form)).toBe(30);
  expect(gamesOf({ ...form, format: "gauntlet" })).toBe(20);
  expect(gamesOf({ ...form, players: players.slice(0, 1) })).toBe(0);
});

test("players have distinct names", () => {
  expect(namesOf([{ agent: "x".repeat(90), name: "" }], String)[0]).toMatch(/^x{54}…$/);
  expect(namesOf(players, (agent) => agent)).toEqual(["level:1", "level:1 (2)", "Carlo"]);
  expect(planOfForm(form, (agent) => agent)).toMatchObject({ title: "Cup", games: 10, players: [{ name: "level:1" }, { name: "level:1 (2)" }, { agent: "mcts", name: "Carlo" }] });
  expect("openings" in planOfForm(form, String)).toBe(false);
  expect(planOfForm({ ...form, openings: "random:4" }, String)).toMatchObject({ openings: "random:4" });
});

test("a tournament has a readable title", () => {
  expect(planOfForm({ ...form, title: " " }, (agent) => agent)).toMatchObject({ title: "level:1, level:1 (2), Carlo" });
  expect(titleOf(["Level 3", "Alpha-beta"])).toBe("Level 3 vs. Alpha-beta");
  expect(titleOf(["Level 3", "x".repeat(40), "y".repeat(40)])).toBe("Level 3 and 2 others");
  expect(titleOf(["x".repeat(40), "y".repeat(40)])).toHaveLength(60);
});

test("points are written with their halves", () => {
  expect([0, 0.5, 3, 3.5].map(halves)).toEqual(["0", "½", "3", "3½"]);
  expect(crossText({ won: 3, drawn: 1, lost: 6 })).toBe("3½ / 10");
  expect(crossText({ won: 0, drawn: 0, lost: 0 })).toBe("–");
  expect(share({ won: 1, drawn: 2, lost: 1 })).toBe(0.5);
  expect(share({ won: 0, drawn: 0, lost: 0 })).toBeNull();
});

test("tournaments and runs have addresses", () => {
  expect(parseRoute("/lab")).toEqual({ page: "lab" });
  expect(parseRoute("/embed")).toEqual({ page: "embed", id: null });
  expect(parseRoute("/embed/game/abc")).toEqual({ page: "embed", id: "abc" });
  expect(parseRoute("/embed/abc")).toEqual({ page: "missing" });
  expect(parseRoute("/arena")).toEqual({ page: "arena", id: null });
  expect(parseRoute("/arena/abc2/")).toEqual({ page: "arena", id: "abc2" });
  expect(parseRoute("/training/x")).toEqual({ page: "training", id: "x" });
  expect(parseRoute("/arena/a/b")).toEqual({ page: "missing" });
});
