import { describe, expect, test } from "vitest";
import { lineStart, movesTo, noVariations, outline, play, playAll, promote, remove, rename, ROOT, walk, type Line, type Place } from "./variations";

const start: Place = { tree: noVariations(), at: ROOT };
const text = ({ tree, at }: Place): string => movesTo(tree, at).map((move) => move.column).join("");
const read = (line: Line | null): string =>
  line ? line.moves.map(({ branch, instead }) => branch.column + instead.map((other) => `(${read(other)})`).join("")).join("") : "";

describe("a tree of moves", () => {
  test("an existing move is selected, a new one becomes a branch", () => {
    const main = playAll(start, [4, 4, 5]);
    const again = playAll({ tree: main.tree, at: ROOT }, [4, 4, 5]);
    expect(again).toEqual(main);
    const other = playAll({ tree: main.tree, at: ROOT }, [4, 3]);
    expect(text(other)).toBe("43");
    expect(read(outline(other.tree))).toBe("44(3)5");
  });

  test("branches are nested", () => {
    let place = playAll(start, [1, 2, 3]);
    place = playAll({ ...place, at: walk(place.tree, place.at, "first") }, [1, 5, 6]);
    place = playAll({ ...place, at: ROOT }, [1, 5, 7]);
    place = playAll({ ...place, at: ROOT }, [2]);
    expect(read(outline(place.tree))).toBe("1(2)2(56(7))3");
    expect(outline(place.tree)?.moves[1]?.instead[0]?.moves[0]?.ply).toBe(2);
  });

  test("deleting a branch removes its moves and selects its parent", () => {
    const main = playAll(start, [1, 2, 3]);
    const second = movesTo(main.tree, main.at)[1]!.id;
    const after = remove(main, second);
    expect(text(after)).toBe("1");
    expect(after.tree.branches.size).toBe(2);
    expect(remove(after, ROOT)).toEqual(after);
    const elsewhere = play({ tree: main.tree, at: ROOT }, 7);
    expect(text(remove(elsewhere, second))).toBe("7");
  });

  test("a promoted branch becomes the main line and keeps names", () => {
    let place = playAll(start, [1, 2]);
    place = playAll({ ...place, at: ROOT }, [3]);
    const named = rename(place.tree, place.at, "the centre");
    const promoted = promote(named, place.at);
    expect(read(outline(promoted))).toBe("3(12)");
    expect(outline(promoted)?.name).toBe("the centre");
    expect(lineStart(named, place.at)).toBe(place.at);
    expect(lineStart(promoted, place.at)).toBe(ROOT);
  });

  test("steps stay on the line and within its ends", () => {
    const main = playAll(start, [1, 2, 3]);
    expect(walk(main.tree, main.at, "forward")).toBe(main.at);
    expect(walk(main.tree, ROOT, "back")).toBe(ROOT);
    expect(walk(main.tree, ROOT, "last")).toBe(main.at);
    expect(walk(main.tree, main.at, "first")).toBe(ROOT);
  });
});
