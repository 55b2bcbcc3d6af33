/** Draws a search tree on a canvas: only the visible part, at a level of detail that can be made out. */

import { discsOfText } from "../transitions/position";
import { movesTo, stateAt, type Layout, type Plan, type VisitCounts } from "../transitions/tree";
import type { NodeKind } from "../types-research";

/** The size of a node's card, in drawing units. */
export const CARD = 92;
export const GAP = 10;
const HEAD = 40;
const STRIP = 17;
const PAD = 6;
const ROW_GAP = 42;
const BOARD = 74;

export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export interface Colours {
  ink: string;
  quiet: string;
  surface: string;
  strong: string;
  line: string;
  accent: string;
  accentSoft: string;
  bad: string;
  good: string;
  hole: string;
  board: string;
  p0: string;
  p1: string;
}

export interface Scene {
  plan: Plan;
  layout: Layout;
  open: ReadonlySet<number>;
  camera: Camera;
  colours: Colours;
  /** The step to show; past the end, the whole search. */
  step: number;
  counts: VisitCounts | null;
  selected: number;
  /** The nodes on the path to the current node. */
  path: ReadonlySet<number>;
  boards: Map<number, ReturnType<typeof discsOfText>>;
  cutLabel: (columns: string[]) => string;
  more: (count: number) => string;
  below: (node: number) => number;
}

const SIGNS: Record<NodeKind, string> = { max: "▲", min: "▼", leaf: "●", end: "■", table: "◆" };

export function boardHeight({ plan }: Pick<Scene, "plan">): number {
  const { cols, rows } = plan.tree.setup;
  return Math.min(BOARD, (BOARD * rows) / cols);
}

export function cardHeight(scene: Pick<Scene, "plan">): number {
  return HEAD + boardHeight(scene) + STRIP + PAD;
}

export function rowHeight(scene: Pick<Scene, "plan">): number {
  return cardHeight(scene) + ROW_GAP;
}

/** The card at a point of the drawing, and whether the point is on its foot, which expands and collapses it. */
export function nodeAt(scene: Pick<Scene, "plan" | "layout">, x: number, y: number): { node: number; foot: boolean } | null {
  const [height, row] = [cardHeight(scene), rowHeight(scene)];
  for (const node of scene.layout.shown) {
    const top = scene.plan.rows[node]! * row;
    if (Math.abs(scene.layout.x[node]! - x) <= CARD / 2 && y >= top && y <= top + height) return { node, foot: y > top + height - STRIP - 2 };
  }
  return null;
}

/** The camera that fits the whole drawing, or as much of its top as can be read. */
export function fitted(scene: Pick<Scene, "plan" | "layout">, width: number, height: number, minScale = 0, maxScale = 1.25): Camera {
  const [w, h] = [scene.layout.width, scene.layout.rows * rowHeight(scene) - ROW_GAP];
  const scale = Math.max(minScale, Math.min(maxScale, (width - 24) / w, (height - 24) / h));
  const middle = w * scale > width - 24 ? scene.layout.x[0]! : w / 2;
  return { scale, x: width / 2 - middle * scale, y: 12 + Math.max(0, (height - 24 - h * scale) / 2) };
}

export function draw(context: CanvasRenderingContext2D, scene: Scene, width: number, height: number): void {
  const { plan, layout, camera, colours, step } = scene;
  const { scale } = camera;
  const [card, row] = [cardHeight(scene), rowHeight(scene)];
  const [left, right] = [-camera.x / scale - CARD, (width - camera.x) / scale + CARD];
  const [top, bottom] = [-camera.y / scale - row, (height - camera.y) / scale + row];
  context.clearRect(0, 0, width, height);
  context.save();
  context.translate(camera.x, camera.y);
  context.scale(scale, scale);

  // 1. Branches, in three strokes: not searched yet, searched, selected line.
  const strokes = { later: new Path2D(), searched: new Path2D(), chosen: new Path2D() };
  const whole = step >= plan.length;
  for (const node of layout.shown) {
    const { parent } = plan.tree.nodes[node]!;
    if (parent === null) continue;
    const y = plan.rows[node]! * row;
    const [x0, x1] = [layout.x[parent]!, layout.x[node]!];
    if (y < top || y - ROW_GAP > bottom || Math.max(x0, x1) < left || Math.min(x0, x1) > right) continue;
    const lit = whole ? plan.tree.nodes[node]!.chosen === true : scene.path.has(node);
    const stroke = stateAt(plan, node, step) === "unseen" ? strokes.later : lit ? strokes.chosen : strokes.searched;
    stroke.moveTo(x0, y - ROW_GAP);
    stroke.bezierCurveTo(x0, y - ROW_GAP / 2, x1, y - ROW_GAP / 2, x1, y);
  }
  const thin = Math.max(1.2, 0.7 / scale);
  stroke(context, strokes.later, colours.line, thin, [4, 4]);
  stroke(context, strokes.searched, colours.strong, thin, []);
  stroke(context, strokes.chosen, colours.accent, Math.max(3.5, 2 / scale), []);

  // 2. Cards, without details when zoomed out.
  for (const node of layout.shown) {
    const [x, y] = [layout.x[node]!, plan.rows[node]! * row];
    if (x < left || x > right || y < top || y > bottom) continue;
    if (scale < 0.22) drawSpot(context, scene, node, x, y, card);
    else drawCard(context, scene, node, x, y, card);
  }
  context.restore();
}

function stroke(context: CanvasRenderingContext2D, path: Path2D, colour: string, width: number, dash: number[]): void {
  context.strokeStyle = colour;
  context.lineWidth = width;
  context.setLineDash(dash);
  context.stroke(path);
  context.setLineDash([]);
}

function drawSpot(context: CanvasRenderingContext2D, scene: Scene, node: number, x: number, y: number, height: number): void {
  const { colours, plan, selected, step } = scene;
  const content = plan.tree.nodes[node]!;
  const unseen = stateAt(plan, node, step) === "unseen";
  context.fillStyle = node === selected ? colours.accent : unseen ? colours.line : content.cut ? colours.bad : content.chosen ? colours.accent : colours.strong;
  context.globalAlpha = unseen ? 0.6 : 1;
  context.fillRect(x - CARD / 2, y, CARD, height);
  context.globalAlpha = 1;
}

function drawCard(context: CanvasRenderingContext2D, scene: Scene, node: number, x: number, y: number, height: number): void {
  const { colours, plan, step, camera } = scene;
  const content = plan.tree.nodes[node]!;
  const seen = stateAt(plan, node, step);
  const left = x - CARD / 2;
  const lit = step < plan.length && scene.path.has(node);
  const choice = content.kind === "max" || content.kind === "min";

  context.globalAlpha = seen === "unseen" ? 0.45 : 1;
  context.fillStyle = lit ? colours.accentSoft : colours.surface;
  context.strokeStyle = node === scene.selected ? colours.accent : content.chosen && step >= plan.length ? colours.accent : colours.strong;
  context.lineWidth = node === scene.selected ? 3.5 : 1.2;
  context.setLineDash(content.kind === "table" ? [5, 3] : []);
  context.beginPath();
  context.roundRect(left, y, CARD, height, choice ? 8 : 2);
  context.fill();
  context.stroke();
  context.setLineDash([]);

  // The column played, above the card.
  if (content.column !== undefined) {
    context.fillStyle = colours.surface;
    context.strokeStyle = colours.strong;
    context.lineWidth = 1;
    context.beginPath();
    context.arc(x, y, 9, 0, 7);
    context.fill();
    context.stroke();
    write(context, content.column.toString(36).toUpperCase(), x, y + 4, 11, 600, colours.ink, "center");
  } else if (content.pass) {
    write(context, content.pass, x, y - 5, 11, 600, colours.ink, "center");
  }
  if (seen === "unseen") {
    context.globalAlpha = 1;
    return;
  }

  const { value, small } = captions(scene, node);
  const colour = value.startsWith("W") ? colours.good : value.startsWith("L") ? colours.bad : colours.ink;
  write(context, SIGNS[content.kind], left + 8, y + 24, 10, 400, colours.quiet, "left");
  write(context, value, x + 4, y + 25, 16, 700, colour, "center");
  write(context, small, x, y + 37, 10, 400, colours.quiet, "center");

  const boardTop = y + HEAD;
  const tall = boardHeight(scene);
  if (camera.scale >= 0.4) drawBoard(context, scene, node, x, boardTop, tall);

  // The foot: cut-offs, collapsed children, hidden nodes.
  const foot = y + height - 6;
  const below = scene.below(node);
  const closed = below > 0 && !scene.open.has(node);
  if (content.cut && seen === "done") write(context, scene.cutLabel(content.cut.columns), x, foot, 10, 600, colours.bad, "center");
  else if (closed) write(context, `▸ ${scene.more(below + (content.hidden ?? 0))}`, x, foot, 10, 600, colours.accent, "center");
  else if (content.hidden) write(context, scene.more(content.hidden), x, foot, 10, 400, colours.quiet, "center");
  context.globalAlpha = 1;
}

function captions({ plan, step, counts }: Scene, node: number): { value: string; small: string } {
  const content = plan.tree.nodes[node]!;
  if (plan.simulated && counts && step < plan.length) {
    const visits = counts.visits[node]!;
    const mean = visits > 0 ? `${Math.round((100 * counts.points[node]!) / visits)} %` : "…";
    return { value: mean, small: `${visits} ×` };
  }
  const sign = content.bound === "upper" ? "≤ " : content.bound === "lower" ? "≥ " : "";
  const done = stateAt(plan, node, step) === "done";
  const value = done ? (content.value === null ? "–" : sign + minus(content.value)) : "…";
  if (content.visits !== undefined) return { value, small: `${content.visits} ×` };
  const hasWindow = content.alpha !== undefined || content.beta !== undefined;
  return { value, small: hasWindow ? `α ${minus(content.alpha ?? "−∞")}  β ${minus(content.beta ?? "∞")}` : "" };
}

export function minus(text: string): string {
  return text.replace("-", "−");
}

function drawBoard(context: CanvasRenderingContext2D, scene: Scene, node: number, x: number, y: number, height: number): void {
  const { colours, plan, boards } = scene;
  const { setup } = plan.tree;
  let discs = boards.get(node);
  if (!discs) boards.set(node, (discs = discsOfText(movesTo(plan.tree, node), 0, setup)));
  const cell = height / setup.rows;
  const left = x - (cell * setup.cols) / 2;
  context.fillStyle = colours.board;
  context.beginPath();
  context.roundRect(left - 1.5, y - 1.5, cell * setup.cols + 3, height + 3, 3);
  context.fill();
  const radius = cell * 0.4;
  const taken = new Set(discs.map((disc) => disc.column * 64 + disc.row));
  context.fillStyle = colours.hole;
  context.beginPath();
  for (let column = 1; column <= setup.cols; column++) {
    for (let row = 1; row <= setup.rows; row++) {
      if (taken.has(column * 64 + row)) continue;
      const [cx, cy] = [left + (column - 0.5) * cell, y + (setup.rows - row + 0.5) * cell];
      context.moveTo(cx + radius, cy);
      context.arc(cx, cy, radius, 0, 7);
    }
  }
  context.fill();
  // Players differ in shape as well as colour.
  for (const player of [0, 1] as const) {
    context.fillStyle = player === 0 ? colours.p0 : colours.p1;
    context.beginPath();
    for (const disc of discs) {
      if (disc.player !== player) continue;
      const [cx, cy] = [left + (disc.column - 0.5) * cell, y + (setup.rows - disc.row + 0.5) * cell];
      if (player === 0) {
        context.moveTo(cx + radius, cy);
        context.arc(cx, cy, radius, 0, 7);
      } else {
        const r = radius * 1.15;
        context.moveTo(cx, cy - r);
        context.lineTo(cx + r, cy);
        context.lineTo(cx, cy + r);
        context.lineTo(cx - r, cy);
        context.closePath();
      }
    }
    context.fill();
  }
  const last = discs.at(-1);
  if (last && plan.tree.nodes[node]!.column !== undefined) {
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(left + (last.column - 0.5) * cell, y + (setup.rows - last.row + 0.5) * cell, radius * 1.2, 0, 7);
    context.stroke();
  }
}

function write(context: CanvasRenderingContext2D, text: string, x: number, y: number, size: number, weight: number, colour: string, align: CanvasTextAlign): void {
  context.fillStyle = colour;
  context.font = `${weight} ${size}px ui-sans-serif, system-ui, sans-serif`;
  context.textAlign = align;
  context.fillText(text, x, y, CARD - 8);
}
