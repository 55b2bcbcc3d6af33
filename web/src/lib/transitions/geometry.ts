/** The geometry of the drawn board, in hundredths of a cell. */

import type { Setup } from "../types";

export const CELL = 100;
/** Room above the board for the disc to drop. */
export const HEAD = 96;
/** The frame to the left and right of the cells and above them. */
export const PAD = 18;
/** The frame below the cells, with the column numbers. */
export const FOOT = 46;
export const DISC = 41;
export const HOLE = 42;

export type Size = Pick<Setup, "cols" | "rows">;

export interface Point {
  x: number;
  y: number;
}

export function boardWidth({ cols }: Size): number {
  return cols * CELL + 2 * PAD;
}

export function boardHeight({ rows }: Size): number {
  return HEAD + PAD + rows * CELL + FOOT;
}

/** The place of a column from the left, counted from 1: a flipped board is mirrored. */
export function place(column: number, { cols }: Size, flipped: boolean): number {
  return flipped ? cols + 1 - column : column;
}

/** The centre of a cell. Row `rows + 1` is above the board, where a disc hovers over its column. */
export function centre(column: number, row: number, size: Size, flipped = false): Point {
  const x = PAD + (place(column, size, flipped) - 0.5) * CELL;
  const y = row > size.rows ? HEAD / 2 : HEAD + PAD + (size.rows - row + 0.5) * CELL;
  return { x, y };
}

/** The board's front: a rounded plate with a round hole for each cell, to be filled with the even-odd rule. */
export function plate(size: Size): string {
  const width = boardWidth(size);
  const top = HEAD;
  const height = boardHeight(size) - HEAD;
  const holes: string[] = [];
  for (let column = 1; column <= size.cols; column++) {
    for (let row = 1; row <= size.rows; row++) {
      const { x, y } = centre(column, row, size);
      holes.push(circle(x, y, HOLE));
    }
  }
  return roundedRectangle(0, top, width, height, 30) + holes.join("");
}

/** The front of one column without its holes, for highlighting. */
export function lane(column: number, size: Size, flipped: boolean): string {
  const { x } = centre(column, 1, size, flipped);
  const front = roundedRectangle(x - CELL / 2 + 2, HEAD + 5, CELL - 4, boardHeight(size) - HEAD - 10, 22);
  const holes = Array.from({ length: size.rows }, (_, index) => circle(x, centre(column, index + 1, size).y, HOLE));
  return front + holes.join("");
}

function roundedRectangle(x: number, y: number, width: number, height: number, r: number): string {
  return (
    `M${x + r} ${y}h${width - 2 * r}a${r} ${r} 0 0 1 ${r} ${r}v${height - 2 * r}` +
    `a${r} ${r} 0 0 1 ${-r} ${r}h${2 * r - width}a${r} ${r} 0 0 1 ${-r} ${-r}v${2 * r - height}a${r} ${r} 0 0 1 ${r} ${-r}z`
  );
}

function circle(x: number, y: number, r: number): string {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
}
