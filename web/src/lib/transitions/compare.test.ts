import { expect, test } from "vitest";
import type { AgentKind } from "../types";
import type { Search } from "../types-research";
import { domain, linePath, logTicks, place, shortCount, shortTime, ticks } from "./chart";
import { csvOf, factors, runsOf, seriesOf, withDepth, type Measurement } from "./compare";

const depth = { name: "depth", about: "", kind: "integer" as const, default: 4, min: 1, max: 128, choices: null };
const kinds: AgentKind[] = [
  { name: "minimax", about: "", parameters: [depth] },
  { name: "alphabeta", about: "", parameters: [depth] },
  { name: "mcts", about: "", parameters: [] },
];

const search = (ms: number, nodes: number, stopped = false): Search => ({
  agent: "", column: 4, value: { kind: "points", number: 3, text: "+3" }, pv: "4", ms, nodes_searched: nodes, leaves: 5,
  cutoffs: 6, table_hits: 7, simulations: 0, stopped,
});
const row = (agent: string, at: number | null, ms: number, nodes: number, stopped = false): Measurement => ({ agent, depth: at, text: agent, search: search(ms, nodes, stopped) });

test("every player runs at every depth, and those without one once", () => {
  expect(runsOf(["minimax", "mcts", "alphabeta"], 2, 3, kinds).map((run) => run.text)).toEqual([
    "minimax:depth=2", "alphabeta:depth=2", "minimax:depth=3", "alphabeta:depth=3", "mcts",
  ]);
  expect(runsOf(["minimax"], 3, 2, kinds)).toEqual([]);
  expect(withDepth("alphabeta:eval=galli,depth=2", 7)).toBe("alphabeta:eval=galli,depth=7");
});

test("players are compared with the first one at the same depth", () => {
  const rows = [row("minimax", 2, 10, 400), row("alphabeta", 2, 2, 100), row("minimax", 3, 80, 2000, true), row("alphabeta", 3, 5, 200)];
  expect(factors(rows, rows[0]!)).toBeNull();
  expect(factors(rows, rows[1]!)).toEqual({ speed: 5, nodes: 4 });
  expect(factors(rows, rows[3]!)).toBeNull();
  expect(seriesOf(rows, "nodes_searched", (agent) => agent)).toEqual([
    { name: "minimax", points: [{ x: 2, y: 400 }] },
    { name: "alphabeta", points: [{ x: 2, y: 100 }, { x: 3, y: 200 }] },
  ]);
  const lines = csvOf([rows[0]!, rows[1]!, row('mcts:c="1"', null, 1, 9)]).split("\n");
  expect(lines[2]).toBe('2,"alphabeta",1,2.000,100,5,6,7,0,5.000,4.000,4,+3');
  expect(lines[3]!.startsWith(',"mcts:c=""1""",1,')).toBe(true);
});

test("times and counts are short", () => {
  expect([0.0001, 0.0123, 3.456, 123.4, 61_000].map(shortTime)).toEqual(["< 1 µs", "12 µs", "3.5 ms", "123 ms", "61 s"]);
  expect([1, 1000, 10_000, 1e6, 1e10].map(shortCount)).toEqual(["1", "1,000", "10 k", "1 M", "10 G"]);
});

test("axes have round numbers", () => {
  expect(ticks(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticks(-0.31, 0.3, 4)).toEqual([-0.2, 0, 0.2]);
  expect(ticks(3, 3, 4)).toEqual([3]);
  expect(logTicks(1, 1e4, 6)).toEqual([1, 10, 100, 1000, 10_000]);
  expect(logTicks(1, 1e12, 5).length).toBeLessThanOrEqual(5);
  expect(domain([3, 480], true)).toEqual([1, 1000]);
  expect(domain([10], true)).toEqual([10, 100]);
  expect(domain([2, 4], false, true)[0]).toBe(0);
  expect(domain([], false)).toEqual([0, 1]);
  expect(place(10, [1, 100], [0, 200], true)).toBeCloseTo(100);
  expect(place(5, [5, 5], [0, 10], false)).toBe(5);
  expect(linePath([{ x: 0, y: 1 }, { x: 2, y: 3.25 }])).toBe("M0.0 1.0L2.0 3.3");
});
