import { describe, expect, test } from "vitest";
import data from "../learn/opening.json";
import { answered, columnsOf, DAYS, daysUntil, KNOWN, Opening, type Boxes, type Card } from "./opening";

const DAY = 24 * 60 * 60 * 1000;
const opening = new Opening(data as Card[]);
const [first, second] = opening.cards as [Card, Card];

describe("the cards", () => {
  test("start with the middle column, and every reply to a card has one until the end of the tree", () => {
    expect(first).toMatchObject({ moves: "", column: 4, also: [] });
    expect(opening.cards.length).toBeGreaterThan(100);
    expect(opening.replies([4]).map(({ column }) => column)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test("are found in any order of moves and mirrored", () => {
    const card = opening.cards.find(({ moves, column }) => moves.length === 4 && column !== 4)!;
    const columns = columnsOf(card.moves);
    expect(opening.at(columns)).toMatchObject({ card, column: card.column, also: card.also });
    const mirrored = columns.map((column) => 8 - column);
    expect(opening.at(mirrored)).toMatchObject({ card, column: 8 - card.column });
    const [a, b, c, d] = columns as [number, number, number, number];
    if (a !== c && b !== d) expect(opening.at([c, b, a, d])?.card).toBe(card);
    expect(opening.at([1, 1])).toBeNull();
  });
});

describe("the boxes", () => {
  const now = 1_000_000 * DAY;

  test("new cards come in order, wrong ones again at once, right ones after longer and longer times", () => {
    expect(opening.next({}, now)).toBe(first);
    let boxes: Boxes = answered({}, first, false, now);
    expect(opening.next(boxes, now)).toBe(first);
    boxes = answered(boxes, first, true, now);
    expect(opening.next(boxes, now)).toBe(second);
    expect(boxes[first.moves]).toEqual({ box: 1, due: now + DAY });
    // The next day it is due before anything new.
    expect(opening.next(boxes, now + DAY)).toBe(first);
    boxes = answered(boxes, first, true, now + DAY);
    expect(boxes[first.moves]!.box).toBe(KNOWN);
    expect(daysUntil(boxes[first.moves]!, now + DAY)).toBe(DAYS[2]);
    expect(opening.count(boxes, now + DAY)).toEqual({ known: 1, tried: 1, due: 0, all: opening.cards.length });
    // Right once more on the same day changes nothing; wrong brings it back to the first box.
    expect(answered(boxes, first, true, now + DAY)).toBe(boxes);
    expect(answered(boxes, first, false, now + DAY)[first.moves]).toEqual({ box: 0, due: now + DAY });
  });

  test("the last box is never left", () => {
    let boxes: Boxes = {};
    for (let time = now, round = 0; round < 10; round++, time += 40 * DAY) boxes = answered(boxes, first, true, time);
    expect(boxes[first.moves]!.box).toBe(DAYS.length - 1);
  });

  test("stored progress is read again, and damaged or outdated progress is dropped", () => {
    const boxes = answered({}, first, true, now);
    expect(opening.parse(JSON.stringify(boxes))).toEqual(boxes);
    expect(opening.parse(null)).toEqual({});
    expect(opening.parse("[1")).toEqual({});
    expect(opening.parse('{"": {"box": 99, "due": 1}, "1": {"box": 1, "due": 1}, "44": null}')).toEqual({});
  });
});

describe("the opponent", () => {
  test("plays what was played most often, or else near the centre", () => {
    expect(opening.popular([4], new Map([[2, 3], [6, 8]]))).toBe(6);
    expect(opening.popular([4], new Map())).toBe(4);
    expect(opening.popular([1], new Map())).toBeNull();
  });

  test("is toughest where the fewest moves win", () => {
    const column = opening.toughest([4])!;
    const least = Math.min(...opening.replies([4]).map(({ placed }) => placed.also.length));
    expect(opening.at([4, column])!.also).toHaveLength(least);
  });
});
