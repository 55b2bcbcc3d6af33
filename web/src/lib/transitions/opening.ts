/** The opening trainer: one winning move for the first player in every position that these moves lead to, learnt with Leitner
    boxes. `lib/learn/opening.json` is made and verified by the tests of `claimeven-coach`. */

import { columnOfLetter } from "./position";
import { STANDARD } from "./setup";

/** A position with the first player to move, and the move to know. */
export interface Card {
  moves: string;
  column: number;
  /** Other columns that win. */
  also: number[];
  /** The discs that the first player still has to play with best play. */
  wins: number;
}

/** How well a card is known: its box, and when it is due, in milliseconds since 1970. */
export interface CardProgress {
  box: number;
  due: number;
}

/** The progress stored in the browser, by the moves of the cards. */
export type Boxes = Readonly<Record<string, CardProgress>>;

const DAY = 24 * 60 * 60 * 1000;

/** Days until a card of a box is due again. A card in the first box was answered wrong and comes up again in the same session. */
export const DAYS = [0, 1, 3, 7, 16, 35] as const;

/** A card counts as known from this box on: it was answered right on two different days. */
export const KNOWN = 2;

/** A card as shown on the board, possibly mirrored. */
export interface PlacedCard {
  card: Card;
  column: number;
  also: number[];
}

export class Opening {
  private readonly byKey: Map<string, Card>;

  constructor(readonly cards: Card[]) {
    this.byKey = new Map(cards.map((card) => [keyOf(columnsOf(card.moves)), card]));
  }

  /** The card of a position, for any move order and also mirrored. */
  at(columns: readonly number[]): PlacedCard | null {
    const card = this.byKey.get(keyOf(columns));
    if (!card) return null;
    const isMirrored = stackText(columns) !== stackText(columnsOf(card.moves));
    const oriented = (column: number): number => (isMirrored ? STANDARD.cols + 1 - column : column);
    return { card, column: oriented(card.column), also: card.also.map(oriented) };
  }

  /** Parses stored progress; invalid data counts as none, and cards that no longer exist are dropped. */
  parse(text: string | null): Boxes {
    try {
      const stored = JSON.parse(text ?? "") as Record<string, Partial<CardProgress>>;
      const known = new Set(this.cards.map(({ moves }) => moves));
      const isValid = (one: Partial<CardProgress>): one is CardProgress => Number.isInteger(one?.box) && one.box! >= 0 && one.box! < DAYS.length && Number.isFinite(one.due);
      return Object.fromEntries(Object.entries(stored).flatMap(([moves, one]) => (known.has(moves) && isValid(one) ? [[moves, { box: one.box, due: one.due }]] : [])));
    } catch {
      return {};
    }
  }

  /** What to learn next: what is due, the least known first, and then the next new position. */
  next(boxes: Boxes, now: number): Card | null {
    return this.due(boxes, now)[0] ?? this.nextNew(boxes);
  }

  due(boxes: Boxes, now: number): Card[] {
    const due = this.cards.filter(({ moves }) => (boxes[moves]?.due ?? Infinity) <= now);
    const order = (card: Card): number => boxes[card.moves]!.due;
    return due.sort((a, b) => boxes[a.moves]!.box - boxes[b.moves]!.box || order(a) - order(b));
  }

  /** The first card that was never tried. Positions with fewer discs come first. */
  nextNew(boxes: Boxes): Card | null {
    return this.cards.find(({ moves }) => !boxes[moves]) ?? null;
  }

  count(boxes: Boxes, now: number): { known: number; tried: number; due: number; all: number } {
    const cards = Object.values(boxes);
    return { known: cards.filter(({ box }) => box >= KNOWN).length, tried: cards.length, due: this.due(boxes, now).length, all: this.cards.length };
  }

  /** The replies after which there is still a card. */
  replies(columns: readonly number[]): { column: number; placed: PlacedCard }[] {
    const heights = heightsOf(columns);
    return Array.from({ length: STANDARD.cols }, (_, index) => index + 1).flatMap((column) => {
      const placed = (heights[column - 1] ?? 0) < STANDARD.rows ? this.at([...columns, column]) : null;
      return placed ? [{ column, placed }] : [];
    });
  }

  /** The reply that leaves the fewest winning moves, and of those the one that holds out longest. */
  toughest(columns: readonly number[]): number | null {
    const replies = this.replies(columns).sort((a, b) => a.placed.also.length - b.placed.also.length || b.placed.card.wins - a.placed.card.wins);
    return replies[0]?.column ?? null;
  }

  /** The reply that was played most often, of those with a card; near the centre where nobody has played. */
  popular(columns: readonly number[], games: ReadonlyMap<number, number>): number | null {
    const centre = (STANDARD.cols + 1) / 2;
    const replies = this.replies(columns).map(({ column }) => column);
    return replies.sort((a, b) => (games.get(b) ?? 0) - (games.get(a) ?? 0) || Math.abs(a - centre) - Math.abs(b - centre) || a - b)[0] ?? null;
  }
}

/** Moves a card after an answer: one box up, or back to the first. A right answer before the card is due changes nothing. */
export function answered(boxes: Boxes, { moves }: Card, right: boolean, now: number): Boxes {
  const old = boxes[moves];
  if (!right) return { ...boxes, [moves]: { box: 0, due: now } };
  if (old && old.due > now) return boxes;
  const box = Math.min((old?.box ?? 0) + 1, DAYS.length - 1);
  return { ...boxes, [moves]: { box, due: now + DAYS[box]! * DAY } };
}

/** The days until a card is due again, from today on. */
export function daysUntil({ due }: CardProgress, now: number): number {
  return Math.max(0, Math.round((due - now) / DAY));
}

export function columnsOf(moves: string): number[] {
  return [...moves].map(columnOfLetter);
}

function heightsOf(columns: readonly number[]): number[] {
  const heights = new Array<number>(STANDARD.cols).fill(0);
  for (const column of columns) heights[column - 1] = (heights[column - 1] ?? 0) + 1;
  return heights;
}

/** The discs of each column from the bottom up, as text. */
function stacksOf(columns: readonly number[]): string[] {
  const stacks = new Array<string>(STANDARD.cols).fill("");
  columns.forEach((column, ply) => (stacks[column - 1] += ply % 2 === 0 ? "x" : "o"));
  return stacks;
}

function stackText(columns: readonly number[]): string {
  return stacksOf(columns).join("/");
}

/** A key that is the same for all move orders and for mirror images. */
function keyOf(columns: readonly number[]): string {
  const stacks = stacksOf(columns);
  const mirrored = [...stacks].reverse().join("/");
  const text = stacks.join("/");
  return text < mirrored ? text : mirrored;
}
