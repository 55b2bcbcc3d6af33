/** The analysis board: URLs, discs and the presentation of values. */

import type { Cell, Player, Setup, Value } from "../types";
import type { Analysis, Certainty, ColumnValue, Threat } from "../types-study";
import { columnOfLetter, letterOfColumn, type Disc, type Shown } from "./position";
import { sameSetup, setupProblem, STANDARD } from "./setup";
import { shortValue } from "./value";

/** A position as a URL describes it. */
export interface Address {
  setup: Setup;
  /** The discs of a custom position, rows separated by `/`; null for the empty board. */
  board: string | null;
  columns: number[];
  /** The colour that moves first. */
  first: Player;
}

/** Parses the query string. Invalid parts are ignored; the server checks the rest. */
export function parseAddress(search: string): Address {
  const params = new URLSearchParams(search);
  const number = (name: string, fallback: number): number => {
    const value = Number(params.get(name) ?? fallback);
    return Number.isInteger(value) ? value : fallback;
  };
  const given: Setup = {
    cols: number("cols", STANDARD.cols),
    rows: number("rows", STANDARD.rows),
    connect: number("connect", STANDARD.connect),
    ruleset: params.get("ruleset") === "lines" ? "lines" : "standard",
  };
  const setup = setupProblem(given) === null ? given : STANDARD;
  const board = params.get("board");
  const columns = [...(params.get("pos") ?? "").toLowerCase()].map(columnOfLetter);
  return { setup, board: board && isBoard(board, setup) ? board : null, columns, first: params.get("first") === "1" ? 1 : 0 };
}

/** The URL of a position, without default values. */
export function addressOf({ setup, board, columns, first }: Address): string {
  const params = new URLSearchParams();
  if (board) params.set("board", board);
  if (columns.length > 0) params.set("pos", columns.map(letterOfColumn).join(""));
  if (!sameSetup(setup, STANDARD)) {
    params.set("cols", String(setup.cols));
    params.set("rows", String(setup.rows));
    if (setup.connect !== STANDARD.connect) params.set("connect", String(setup.connect));
    if (setup.ruleset !== "standard") params.set("ruleset", setup.ruleset);
  }
  if (first === 1) params.set("first", "1");
  const text = params.toString().replaceAll("%2F", "/");
  return text ? `/analysis?${text}` : "/analysis";
}

function isBoard(board: string, { cols, rows }: Setup): boolean {
  const lines = board.split("/");
  return lines.length === rows && lines.every((line) => line.length === cols && /^[.XO]*$/.test(line));
}

/** Discs by column, from the bottom up: the editable form of a position. */
export type Stacks = (0 | 1)[][];

export function stacksOf(board: string | null, { cols }: Setup): Stacks {
  const stacks: Stacks = Array.from({ length: cols }, () => []);
  for (const line of (board ?? "").split("/").reverse()) {
    for (const [index, letter] of [...line].entries()) if (letter !== ".") stacks[index]?.push(letter === "X" ? 0 : 1);
  }
  return stacks;
}

export function boardOf(stacks: Stacks, { rows }: Setup): string {
  const line = (row: number): string => stacks.map((stack) => (stack[row] === undefined ? "." : stack[row] === 0 ? "X" : "O")).join("");
  return Array.from({ length: rows }, (_, index) => line(rows - 1 - index)).join("/");
}

/** The number of discs of the first player and of the second. */
export function countOf(stacks: Stacks): [number, number] {
  const all = stacks.flat();
  const second = all.filter((disc) => disc === 1).length;
  return [all.length - second, second];
}

/** The board after some moves from a custom position. Moves into full columns are ignored. */
export function shownAfter({ setup, board, columns, first }: Address, lines: Cell[][] = []): Shown {
  const stacks = stacksOf(board, setup);
  const colour = (disc: 0 | 1): Player => ((disc + first) % 2) as Player;
  const discs: Disc[] = [];
  // Discs of the custom position have lower numbers than those of the moves.
  let before = -stacks.flat().length;
  for (const [index, stack] of stacks.entries()) {
    for (const [row, disc] of stack.entries()) discs.push({ column: index + 1, row: row + 1, player: colour(disc), ply: ++before - 1 });
  }
  const heights = stacks.map((stack) => stack.length);
  const [x, o] = countOf(stacks);
  let mover: 0 | 1 = x > o ? 1 : 0;
  const played: Disc[] = [];
  for (const column of columns) {
    const row = (heights[column - 1] ?? setup.rows) + 1;
    if (row > setup.rows) continue;
    heights[column - 1] = row;
    played.push({ column, row, player: colour(mover), ply: played.length + 1 });
    mover = mover === 0 ? 1 : 0;
  }
  discs.push(...played);
  const owner = new Map(discs.map((disc) => [`${disc.column},${disc.row}`, disc.player]));
  const closed = lines.flatMap((cells) => {
    const player = owner.get(`${cells[0]?.[0]},${cells[0]?.[1]}`);
    return player === undefined ? [] : [{ player, cells }];
  });
  const scores: [number, number] = [0, 0];
  for (const line of closed) scores[line.player] += 1;
  return { discs, heights, last: played.at(-1) ?? null, lines: closed, scores };
}

/** A short text of what is known about a move, to fit under a column. */
export function shortResult(result: ColumnValue): string {
  if (result.value) return shortValue(result.value);
  if (result.at_least === 1) return "+";
  if (result.at_most === -1) return "−";
  if (result.at_least === 0) return result.at_most === 0 ? "=" : "≥ =";
  return result.at_most === 0 ? "≤ =" : "–";
}

/** How good a move is known to be, which decides its colour. */
export function kindOf(result: Pick<ColumnValue, "at_least" | "at_most">): "win" | "draw" | "loss" | "open" {
  if (result.at_least === 1) return "win";
  if (result.at_most === -1) return "loss";
  return result.at_least === 0 && result.at_most === 0 ? "draw" : "open";
}

/** The part of the bar for the side to move: half for a draw, more the closer its win is. */
export function barShare(value: Value | null, cells: number): number {
  if (!value) return 0.5;
  const nearness = 0.2 + 0.3 * Math.max(0, 1 - value.number / cells);
  switch (value.kind) {
    case "win":
      return 0.5 + nearness;
    case "loss":
      return 0.5 - nearness;
    case "expected":
      return value.number;
    case "lines":
      return 0.5 + 0.5 * Math.tanh(value.number / 4);
    case "points":
      return 0.5 + Math.atan(value.number / 20) / Math.PI;
    case "draw":
      return 0.5;
  }
}

/** The part of the bar for a player: all of it for a game that the player has won. */
export function shareOf(result: Analysis | null, near: Player, toMove: Player | null, winner: Player | null): number {
  if (!result) return 0.5;
  if (result.outcome) return winner === null ? 0.5 : winner === near ? 1 : 0;
  const { value, at_least, at_most } = certainty(result);
  // If only the result is known, the bar shows who wins but not how soon.
  const share = value ? barShare(value, result.setup.cols * result.setup.rows) : at_least === 1 ? 0.7 : at_most === -1 ? 0.3 : 0.5;
  return toMove === near ? share : 1 - share;
}

/** What is proven about a position, which follows from its best moves. */
export function certainty({ value, columns }: Pick<Analysis, "value" | "columns">): Certainty {
  const moves = columns.filter((column) => column !== null);
  const best = (numbers: number[], fallback: number): number => (numbers.length > 0 ? Math.max(...numbers) : fallback);
  return {
    value,
    at_least: best(moves.map((move) => move.at_least), -1) as Certainty["at_least"],
    at_most: best(moves.map((move) => move.at_most), 1) as Certainty["at_most"],
    no_loss_within: best(moves.map((move) => move.no_loss_within), 0),
  };
}

/** The threats of one side: side 0 moved first. */
export interface SideThreats {
  side: 0 | 1;
  player: Player;
  threats: Threat[];
}

export function threatsOf(result: Analysis | null, first: Player): SideThreats[] {
  return ([0, 1] as const).map((side) => ({ side, player: ((side + first) % 2) as Player, threats: result?.threats[side] ?? [] }));
}

/** Threats that still count at the end, when the columns fill up one disc after another: on a board with an even number of rows,
    the first player then gets the odd rows and the second the even ones. */
export function isLasting(threat: Threat, player: 0 | 1, rows: number): boolean {
  return rows % 2 === 0 && threat.odd === (player === 0);
}
