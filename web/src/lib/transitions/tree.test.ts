import { expect, test } from "vitest";
import type { SearchTree, TreeNode } from "../types-research";
import { STANDARD } from "./setup";
import { countBelow, eventAt, firstOpen, layout, movesTo, neighbour, planOf, rank, stateAt, VisitCounts, valueSoFar } from "./tree";

const node = (parent: number | null, column?: number, more: Partial<TreeNode> = {}): TreeNode => ({ parent, column, kind: "max", value: "+1", bound: "exact", ...more });

function tree(nodes: TreeNode[], playouts: SearchTree["playouts"] = []): SearchTree {
  const value = { kind: "points" as const, number: 1, text: "+1" };
  return {
    setup: STANDARD, moves: "44", hidden: 0, nodes, playouts, agent: "minimax", column: 4, value, pv: "4", ms: 1,
    nodes_searched: nodes.length, leaves: 0, cutoffs: 0, table_hits: 0, simulations: playouts.length, stopped: false,
  };
}

/** A root with two replies; the first has two children, the second was cut off after one. */
const small = (): SearchTree =>
  tree([
    node(null, undefined, { value: "+3", chosen: true }),
    node(0, 3, { kind: "min", value: "+3", chosen: true }),
    node(1, 1, { kind: "leaf", value: "+5" }),
    node(1, 2, { kind: "leaf", value: "+3", chosen: true }),
    node(0, 5, { kind: "min", value: "-2", cut: { alpha: "+3", beta: "-2", columns: ["4", "7"] } }),
    node(4, 1, { kind: "leaf", value: "-2" }),
  ]);

test("the search is depth-first and leaves a node after its children", () => {
  const plan = planOf(small());
  expect(plan.nodes).toEqual([0, 1, 2, 3, 1, 4, 5, 4, 0]);
  expect(plan.length).toBe(9);
  expect([0, 1, 5, 9].map((step) => stateAt(plan, 1, step))).toEqual(["unseen", "unseen", "done", "done"]);
  expect([2, 3, 4].map((step) => stateAt(plan, 1, step))).toEqual(["open", "open", "open"]);
  expect(stateAt(plan, 2, 3)).toBe("done");
  expect(movesTo(plan.tree, 3)).toBe("4432");
});

test("an open node has the best value searched below it", () => {
  const plan = planOf(small());
  expect([2, 3, 4].map((step) => valueSoFar(plan, 1, step))).toEqual([null, "+5", "+3"]);
  expect(valueSoFar(plan, 0, 5)).toBe("+3");
  expect(valueSoFar(plan, 0, 8)).toBe("+3");
});

test("values are ordered as a player would", () => {
  const values = ["L1", "L3", "-7", "draw", "+2", "+12", "W4", "W1"];
  expect([...values].sort((a, b) => rank(a) - rank(b))).toEqual(values);
});

test("each step says what happens", () => {
  const plan = planOf(small());
  const all = Array.from({ length: 11 }, (_, step) => eventAt(plan, step).what);
  expect(all).toEqual(["begin", "enter", "enter", "leaf", "leaf", "back", "enter", "leaf", "cut", "back", "end"]);
});

test("simulations are counted on their way, forwards and backwards", () => {
  const plan = planOf(tree([node(null), node(0, 1), node(0, 2), node(1, 3)], [[1, 1], [2, 0], [3, 0.5], [3, 1]]));
  expect(plan.simulated).toBe(true);
  expect([...plan.enter]).toEqual([1, 1, 2, 3]);
  const counts = new VisitCounts(plan);
  counts.goTo(4);
  expect([...counts.visits]).toEqual([4, 3, 1, 2]);
  expect([...counts.points]).toEqual([2.5, 2.5, 0, 1.5]);
  counts.goTo(1);
  expect([...counts.visits]).toEqual([1, 1, 0, 0]);
  expect(eventAt(plan, 3)).toMatchObject({ what: "playout", node: 3, result: 0.5 });
});

/** A random tree whose parents come before their children. */
function random(count: number, seed: number): SearchTree {
  let state = seed;
  const next = (most: number): number => (state = (state * 48271) % 0x7fffffff) % most;
  return tree(Array.from({ length: count }, (_, index) => node(index === 0 ? null : Math.max(0, index - 1 - next(9)), index === 0 ? undefined : 1)));
}

test("nothing overlaps, and parents are centred above their children", () => {
  for (let seed = 1; seed <= 15; seed++) {
    const plan = planOf(random(60, seed));
    const open = new Set(plan.children.keys());
    const { shown, x, width } = layout(plan, open, 50, 8);
    expect(shown.length).toBe(60);
    const last = new Map<number, number>();
    for (const one of shown) {
      expect(x[one]! - (last.get(plan.rows[one]!) ?? -33)).toBeGreaterThanOrEqual(58 - 1e-6);
      last.set(plan.rows[one]!, x[one]!);
    }
    for (const one of shown) {
      const children = plan.children[one]!;
      expect(x[one]! + 25).toBeLessThanOrEqual(width + 1e-6);
      if (children.length > 0) expect(x[one]).toBeCloseTo((x[children[0]!]! + x[children.at(-1)!]!) / 2);
    }
  }
});

test("a closed node hides what is below it", () => {
  const plan = planOf(small());
  const { shown } = layout(plan, new Set([0, 4]), 50, 8);
  expect(shown).toEqual([0, 1, 4, 5]);
  expect(countBelow(plan, 0)).toBe(5);
  expect(neighbour(plan, new Set([0, 4]), 1, "down")).toBe(1);
  expect(neighbour(plan, new Set([0, 4]), 1, "right")).toBe(4);
  expect(neighbour(plan, new Set([0, 4]), 5, "up")).toBe(4);
  expect(neighbour(plan, new Set([0]), 0, "left")).toBe(0);
});

test("the first view expands as much as is readable, and the chosen line", () => {
  expect([...firstOpen(planOf(small()))].sort()).toEqual([0, 1, 4]);
  const large = planOf(random(3000, 7));
  expect(layout(large, firstOpen(large, 40), 50, 8).shown.length).toBeLessThanOrEqual(60);
});

test("five thousand nodes are laid out within a frame or two", () => {
  const plan = planOf(tree(Array.from({ length: 5000 }, (_, index) => node(index === 0 ? null : Math.floor((index - 1) / 7), 1))));
  const open = new Set(plan.children.keys());
  layout(plan, open, 50, 8);
  const began = performance.now();
  layout(plan, open, 50, 8);
  expect(performance.now() - began).toBeLessThan(200);
});
