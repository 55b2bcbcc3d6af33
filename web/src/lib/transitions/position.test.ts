import { describe, expect, it } from "vitest";
import { columnOfLetter, discsOfText, letterOfColumn, moveText, shown, shownText } from "./position";
import { view } from "./samples";
import { STANDARD } from "./setup";

describe("the displayed board", () => {
  const game = view([4, 4, 5]);

  it("has a disc for each move", () => {
    const { discs, heights, last } = shown(game, 3, null);
    expect(discs.map(({ column, row, player }) => [column, row, player])).toEqual([[4, 1, 0], [4, 2, 1], [5, 1, 0]]);
    expect(heights).toEqual([0, 0, 0, 2, 1, 0, 0]);
    expect(last?.ply).toBe(3);
  });

  it("can be that of an earlier move", () => {
    expect(shown(game, 1, null).discs).toHaveLength(1);
    expect(shown(game, 0, null).last).toBeNull();
  });

  it("includes the pending move, with its final key", () => {
    const early = shown(game, 4, { column: 4, ply: 3, player: 1 });
    expect(early.last).toEqual({ column: 4, row: 3, player: 1, ply: 4 });
    expect(shown(view([4, 4, 5, 4]), 4, null).last).toEqual(early.last);
  });

  it("has no pending move while looking back or at another position", () => {
    expect(shown(game, 2, { column: 4, ply: 3, player: 1 }).discs).toHaveLength(2);
    expect(shown(game, 3, { column: 4, ply: 2, player: 1 }).discs).toHaveLength(3);
  });

  it("does not put a disc on a full column", () => {
    const full = view([4, 4, 4, 4, 4, 4]);
    expect(shown(full, 7, { column: 4, ply: 6, player: 0 }).discs).toHaveLength(6);
  });

  it("shows a line once all its discs are on the board, and counts it for its player", () => {
    const won = view([1, 2, 1, 2, 1, 2, 1], { lines: [[[1, 1], [1, 2], [1, 3], [1, 4]]] });
    expect(shown(won, 6, null).lines).toEqual([]);
    expect(shown(won, 7, null).lines).toHaveLength(1);
    expect(shown(won, 7, null).scores).toEqual([1, 0]);
  });
});

describe("move text", () => {
  it("uses letters after 9", () => {
    expect([9, 10, 35].map(letterOfColumn)).toEqual(["9", "a", "z"]);
    expect(["9", "a", "z"].map(columnOfLetter)).toEqual([9, 10, 35]);
    expect(["-", "", "Ä", "ab"].map(columnOfLetter)).toEqual([0, 0, 0, 0]);
    expect(moveText(view([4, 4, 5]).moves)).toBe("445");
  });

  it("becomes discs, starting with the first player", () => {
    expect(discsOfText("44", 1, STANDARD).map(({ player, row }) => [player, row])).toEqual([[1, 1], [0, 2]]);
  });

  it("skips what cannot be drawn", () => {
    expect(discsOfText("8?0", 0, STANDARD)).toEqual([]);
    expect(discsOfText("1111111", 0, STANDARD)).toHaveLength(6);
  });
});

describe("the row that the last move completed", () => {
  const cells = (text: string, setup = STANDARD) => shownText(text, 0, setup).lines.map((line) => line.cells);

  it("is found in every direction", () => {
    expect(cells("4545454")).toEqual([[[4, 1], [4, 2], [4, 3], [4, 4]]]);
    expect(cells("1122334")).toEqual([[[1, 1], [2, 1], [3, 1], [4, 1]]]);
    expect(cells("12233434454")).toEqual([[[1, 1], [2, 2], [3, 3], [4, 4]]]);
    expect(cells("76655454434")).toEqual([[[4, 4], [5, 3], [6, 2], [7, 1]]]);
  });

  it("is empty before the end, and in the ruleset lines", () => {
    expect(cells("454545")).toEqual([]);
    expect(cells("4545454", { ...STANDARD, ruleset: "lines" })).toEqual([]);
    expect(cells("4545454", { ...STANDARD, connect: 5 })).toEqual([]);
  });
});
