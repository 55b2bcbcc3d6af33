/** Search trees: which nodes are visible at each step of the search, and their layout. */

import type { SearchTree, TreeNode } from "../types-research";
import { letterOfColumn } from "./position";

/** A tree with precomputed data. */
export interface Plan {
  tree: SearchTree;
  children: number[][];
  /** The steps at which the search enters and leaves each node, counted from 1. */
  enter: Int32Array;
  leave: Int32Array;
  /** The node of each step, at index `step - 1`. */
  nodes: number[];
  /** The number of steps of the search. */
  length: number;
  /** Whether the search consists of simulations. */
  simulated: boolean;
  /** Plies from the root, passes included. */
  rows: Int32Array;
}

export function planOf(tree: SearchTree): Plan {
  const count = tree.nodes.length;
  const children: number[][] = Array.from({ length: count }, () => []);
  const rows = new Int32Array(count);
  tree.nodes.forEach((node, index) => {
    if (node.parent === null) return;
    children[node.parent]?.push(index);
    rows[index] = (rows[node.parent] ?? 0) + 1;
  });
  const enter = new Int32Array(count);
  const leave = new Int32Array(count);
  const nodes: number[] = [];
  const simulated = tree.playouts.length > 0;
  if (simulated) {
    for (const [step, [node]] of tree.playouts.entries()) {
      nodes.push(node);
      for (let at: number | null = node; at !== null && enter[at] === 0; at = tree.nodes[at]?.parent ?? null) enter[at] = step + 1;
    }
    leave.fill(nodes.length);
  } else {
    // Depth first. A node without children is entered and left in one step.
    const waiting: number[] = count > 0 ? [0] : [];
    while (waiting.length > 0) {
      const next = waiting.pop()!;
      const node = next < 0 ? ~next : next;
      nodes.push(node);
      if (next < 0) {
        leave[node] = nodes.length;
        continue;
      }
      enter[node] = nodes.length;
      const below = children[node] ?? [];
      if (below.length === 0) {
        leave[node] = nodes.length;
      } else {
        waiting.push(~node, ...[...below].reverse());
      }
    }
  }
  return { tree, children, enter, leave, nodes, length: nodes.length, simulated, rows };
}

export type NodeState = "unseen" | "open" | "done";

/** The state of a node at a step of the search. */
export function stateAt(plan: Plan, node: number, step: number): NodeState {
  if (step < (plan.enter[node] ?? 0)) return "unseen";
  return step < (plan.leave[node] ?? 0) ? "open" : "done";
}

/** The moves from the empty board to a node. */
export function movesTo(tree: SearchTree, node: number): string {
  const letters: string[] = [];
  for (let at: number | null = node; at !== null; at = tree.nodes[at]?.parent ?? null) {
    const column = tree.nodes[at]?.column;
    if (column !== undefined) letters.push(letterOfColumn(column));
  }
  return tree.moves + letters.reverse().join("");
}

/** A number that orders values: fast wins are highest, fast losses lowest. */
export function rank(value: string): number {
  const number = Number.parseFloat(value.slice(1));
  if (value.startsWith("W")) return 1e6 - number;
  if (value.startsWith("L")) return -1e6 + number;
  return value === "draw" ? 0 : Number.parseFloat(value);
}

/** The best value among the children that are finished at a step: the value of an open node so far. */
export function valueSoFar(plan: Plan, node: number, step: number): string | null {
  const { kind } = plan.tree.nodes[node]!;
  let best: string | null = null;
  for (const child of plan.children[node] ?? []) {
    const { value, pass } = plan.tree.nodes[child]!;
    // A pass searches the same position again; the latest one counts.
    if (value === null || step < (plan.leave[child] ?? 0)) continue;
    const better = best === null || pass !== undefined || (kind === "max" ? rank(value) > rank(best) : rank(value) < rank(best));
    if (better) best = value;
  }
  return best;
}

/** Visits and points of every node after some simulations. */
export class VisitCounts {
  readonly visits: Uint32Array;
  readonly points: Float64Array;
  private step = 0;

  constructor(private readonly plan: Plan) {
    this.visits = new Uint32Array(plan.tree.nodes.length);
    this.points = new Float64Array(plan.tree.nodes.length);
  }

  /** Moves forwards or backwards to a step. */
  goTo(step: number): void {
    for (; this.step < step; this.step++) this.count(this.step, 1);
    for (; this.step > step; this.step--) this.count(this.step - 1, -1);
  }

  private count(index: number, sign: number): void {
    const playout = this.plan.tree.playouts[index];
    if (!playout) return;
    for (let at: number | null = playout[0]; at !== null; at = this.plan.tree.nodes[at]?.parent ?? null) {
      this.visits[at]! += sign;
      this.points[at]! += sign * playout[1];
    }
  }
}

/** The nodes from the root to a node. */
export function pathTo(tree: SearchTree, node: number): number[] {
  const path: number[] = [];
  for (let at: number | null = node; at !== null; at = tree.nodes[at]?.parent ?? null) path.push(at);
  return path.reverse();
}

/** The nodes expanded at first: as many levels as fit, and the selected line. */
export function firstOpen(plan: Plan, room = 40): Set<number> {
  const open = new Set<number>();
  let shown = 1;
  const chosen = plan.tree.nodes.flatMap((node, index) => (node.chosen && plan.children[index]!.length > 0 ? [index] : []));
  for (const node of chosen) {
    open.add(node);
    shown += plan.children[node]!.length;
    // A long line would make the tree too wide.
    if (shown > room) break;
  }
  let level = [0];
  while (level.length > 0) {
    const fresh = level.filter((node) => !open.has(node) && plan.children[node]!.length > 0);
    const more = fresh.reduce((sum, node) => sum + plan.children[node]!.length, 0);
    if (shown + more > room) break;
    fresh.forEach((node) => open.add(node));
    shown += more;
    level = level.flatMap((node) => plan.children[node]!);
  }
  return open;
}

/** The number of nodes below a node. */
export function countBelow(plan: Plan, node: number): number {
  let count = 0;
  const waiting = [...plan.children[node]!];
  while (waiting.length > 0) {
    count += 1;
    waiting.push(...plan.children[waiting.pop()!]!);
  }
  return count;
}

export interface Layout {
  /** The visible nodes, parents before their children. */
  shown: number[];
  /** The centre of each visible node, by node index. */
  x: Float64Array;
  width: number;
  rows: number;
}

/**
 * The layout of the visible nodes: parents are centred above their children, and nothing overlaps. Subtrees are
 * moved together as close as their outlines allow (Reingold and Tilford, 1981).
 */
export function layout(plan: Plan, open: ReadonlySet<number>, width: number, gap: number): Layout {
  const shown: number[] = plan.children.length > 0 ? [0] : [];
  const below = (node: number): number[] => (open.has(node) ? plan.children[node]! : []);
  for (let index = 0; index < shown.length; index++) shown.push(...below(shown[index]!));

  // 1. From the leaves up, compute the outline of each subtree.
  const offset = new Float64Array(plan.children.length);
  const outlines = new Map<number, [number, number][]>();
  for (const node of [...shown].reverse()) {
    const children = below(node);
    const rows: [number, number][] = [];
    for (const child of children) {
      const outline = outlines.get(child)!;
      outlines.delete(child);
      let shift = 0;
      for (let row = 0; row < Math.min(rows.length, outline.length); row++) {
        const distance = rows[row]![1] + gap - outline[row]![0];
        shift = row === 0 ? distance : Math.max(shift, distance);
      }
      offset[child] = shift;
      outline.forEach(([left, right], row) => {
        if (rows[row]) rows[row]![1] = right + shift;
        else rows.push([left + shift, right + shift]);
      });
    }
    const [first, last] = [children[0], children.at(-1)];
    const middle = first === undefined || last === undefined ? 0 : (offset[first]! + offset[last]!) / 2;
    for (const child of children) offset[child]! -= middle;
    for (const row of rows) {
      row[0] -= middle;
      row[1] -= middle;
    }
    outlines.set(node, [[-width / 2, width / 2], ...rows]);
  }

  // 2. From the root down, compute the centres.
  const x = new Float64Array(plan.children.length);
  const outline = outlines.get(0) ?? [];
  const left = Math.min(...outline.map((row) => row[0]), 0);
  const right = Math.max(...outline.map((row) => row[1]), 0);
  x[0] = -left;
  for (const node of shown) for (const child of below(node)) x[child] = x[node]! + offset[child]!;
  return { shown, x, width: right - left, rows: outline.length };
}

/** The visible node that an arrow key leads to. */
export function neighbour(plan: Plan, open: ReadonlySet<number>, node: number, way: "up" | "down" | "left" | "right"): number {
  const { parent } = plan.tree.nodes[node]!;
  if (way === "up") return parent ?? node;
  if (way === "down") return (open.has(node) ? plan.children[node]![0] : undefined) ?? node;
  if (parent === null) return node;
  const siblings = plan.children[parent]!;
  return siblings[siblings.indexOf(node) + (way === "left" ? -1 : 1)] ?? node;
}

/** What happens at a step, for the description below the trees. */
export type StepEvent =
  | { what: "begin" }
  | { what: "end" }
  | { what: "pass" | "enter" | "leaf" | "playout" | "back" | "cut"; node: number; content: TreeNode; soFar: string | null; result?: number };

export function eventAt(plan: Plan, step: number): StepEvent {
  if (step <= 0 || plan.length === 0) return { what: "begin" };
  if (step > plan.length) return { what: "end" };
  const node = plan.nodes[step - 1]!;
  const content = plan.tree.nodes[node]!;
  if (plan.simulated) return { what: "playout", node, content, soFar: null, result: plan.tree.playouts[step - 1]![1] };
  const soFar = valueSoFar(plan, node, step);
  if (plan.enter[node] === plan.leave[node]) return { what: "leaf", node, content, soFar };
  if (plan.leave[node] === step) return { what: content.cut ? "cut" : "back", node, content, soFar };
  return { what: content.pass ? "pass" : "enter", node, content, soFar };
}
