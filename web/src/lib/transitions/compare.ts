/** Players side by side on one position, by depth. */

import type { AgentKind } from "../types";
import type { Search } from "../types-research";
import { parseAgent } from "./agent-text";
import type { Series } from "./chart";

export interface Run {
  /** The player without its depth. */
  agent: string;
  depth: number | null;
  /** The player with its depth. */
  text: string;
}

export interface Measurement extends Run {
  search: Search;
}

/** Every player at every depth, shallow depths first; players without a depth once, at the end. */
export function runsOf(agents: string[], minDepth: number, maxDepth: number, kinds: AgentKind[]): Run[] {
  const deep = (text: string): boolean =>
    kinds.find((kind) => kind.name === parseAgent(text).name)?.parameters.some((parameter) => parameter.name === "depth") ?? false;
  const depths = Array.from({ length: Math.max(0, maxDepth - minDepth + 1) }, (_, index) => minDepth + index);
  return [
    ...depths.flatMap((depth) => agents.filter(deep).map((agent) => ({ agent, depth, text: withDepth(agent, depth) }))),
    ...agents.filter((agent) => !deep(agent)).map((agent) => ({ agent, depth: null, text: agent })),
  ];
}

export function withDepth(agent: string, depth: number): string {
  const { name, fields } = parseAgent(agent);
  const parts = Object.entries({ ...fields, depth: String(depth) }).map(([key, value]) => `${key}=${value}`);
  return `${name}:${parts.join(",")}`;
}

/** Speed-up and node ratio relative to the first player at the same depth. */
export function factors(rows: Measurement[], row: Measurement): { speed: number; nodes: number } | null {
  const first = rows.find((one) => one.depth !== null && one.depth === row.depth);
  if (!first || first === row || first.search.stopped || row.search.stopped) return null;
  return {
    speed: first.search.ms / Math.max(row.search.ms, 1e-3),
    nodes: first.search.nodes_searched / Math.max(row.search.nodes_searched, 1),
  };
}

export function seriesOf(rows: Measurement[], what: "ms" | "nodes_searched", name: (agent: string) => string): Series[] {
  const agents = [...new Set(rows.filter((row) => row.depth !== null).map((row) => row.agent))];
  return agents.map((agent) => ({
    name: name(agent),
    points: rows
      .filter((row) => row.agent === agent && row.depth !== null && !row.search.stopped)
      .map((row) => ({ x: row.depth!, y: Math.max(row.search[what], what === "ms" ? 1e-3 : 1) })),
  }));
}

/** The same columns as `claimeven compare --csv`. */
export function csvOf(rows: Measurement[]): string {
  const head = "depth,player,positions,ms,nodes,leaves,cutoffs,table_hits,simulations,speed_up,node_ratio,move,value";
  const lines = rows.map((row) => {
    const { search } = row;
    const factor = factors(rows, row);
    return [
      row.depth ?? "",
      `"${row.agent.replaceAll('"', '""')}"`,
      1,
      search.ms.toFixed(3),
      search.nodes_searched,
      search.leaves,
      search.cutoffs,
      search.table_hits,
      search.simulations,
      factor?.speed.toFixed(3) ?? "",
      factor?.nodes.toFixed(3) ?? "",
      search.column,
      search.value.text,
    ].join(",");
  });
  return [head, ...lines, ""].join("\n");
}
