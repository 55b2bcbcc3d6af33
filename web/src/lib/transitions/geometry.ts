/** Where things are on the drawn board, in units of a hundredth of a cell. */

import type { Setup } from "../types";

export const CELL = 100;
/** Room above the board for the disc that is about to fall. */
export const HEAD = 96;
/** The frame around the cells, left, right and above. */
export const PAD = 18;
/** The frame below the cells, where the columns' numbers stand. */
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

/** The place of a column from the left, from 1: a flipped board is seen from behind. */
export function place(column: number, { cols }: Size, flipped: boolean): number {
  return flipped ? cols + 1 - column : column;
}

/** The centre of a cell. Row `rows + 1` is where a disc waits above its column. */
export function centre(column: number, row: number, size: Size, flipped = false): Point {
  const x = PAD + (place(column, size, flipped) - 0.5) * CELL;
  const y = row > size.rows ? HEAD / 2 : HEAD + PAD + (size.rows - row + 0.5) * CELL;
  return { x, y };
}

/** The board's front: a rounded plate with a round hole for each cell, to be filled by the even-odd rule. */
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

/** The front of one column, holes left out, to be lit while it is aimed at. */
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
