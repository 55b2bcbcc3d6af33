import { describe, expect, it } from "vitest";
import { aimAt, keyAction, type Situation } from "./keys";

const plain = { ctrlKey: false, metaKey: false, altKey: false, repeat: false };
const situation: Situation = { cols: 7, canMove: true, focus: "none" };
const press = (key: string, changes: Partial<Situation> = {}, modifiers = {}) =>
  keyAction({ key, ...plain, ...modifiers }, { ...situation, ...changes });

describe("keys", () => {
  it.each([
    ["4", { do: "drop", column: 4 }],
    ["ArrowLeft", { do: "aim", by: -1 }],
    ["ArrowRight", { do: "aim", by: 1 }],
    ["Enter", { do: "drop-aimed" }],
    [" ", { do: "drop-aimed" }],
    ["ArrowDown", { do: "drop-aimed" }],
    ["u", { do: "undo" }],
    ["U", { do: "undo" }],
    ["r", { do: "redo" }],
    ["h", { do: "hint" }],
    ["n", { do: "new" }],
    ["f", { do: "flip" }],
    ["?", { do: "help" }],
    [",", { do: "step", way: "back" }],
    [".", { do: "step", way: "forward" }],
    ["Home", { do: "step", way: "first" }],
    ["End", { do: "step", way: "last" }],
  ])("%s", (key, action) => expect(press(key)).toEqual(action));

  it("drop only where there is a column", () => {
    expect(press("8")).toBeNull();
    expect(press("0")).toBeNull();
    expect(press("0", { cols: 12 })).toEqual({ do: "drop", column: 10 });
  });

  it("step through the game when there is nothing to drop", () => {
    expect(press("ArrowLeft", { canMove: false })).toEqual({ do: "step", way: "back" });
    expect(press("ArrowRight", { canMove: false })).toEqual({ do: "step", way: "forward" });
    expect(press("Enter", { canMove: false })).toBeNull();
  });

  it("are left to the focused field or button, and with a modifier to the browser", () => {
    expect(press("4", { focus: "field" })).toBeNull();
    expect(press("Enter", { focus: "control" })).toBeNull();
    expect(press("Enter", { focus: "column" })).toBeNull();
    expect(press("r", {}, { ctrlKey: true })).toBeNull();
    expect(press("4", {}, { altKey: true })).toBeNull();
  });

  it("held down do not drop, undo or resign again and again", () => {
    expect(press("4", {}, { repeat: true })).toBeNull();
    expect(press("u", {}, { repeat: true })).toBeNull();
    expect(press("ArrowLeft", {}, { repeat: true })).toEqual({ do: "aim", by: -1 });
  });

  it("do nothing otherwise", () => {
    expect(press("x")).toBeNull();
    expect(press("Tab")).toBeNull();
  });
});

describe("aiming", () => {
  it("begins in the middle and stops at the edges", () => {
    expect(aimAt(null, 1, 7, false)).toBe(4);
    expect(aimAt(4, 1, 7, false)).toBe(5);
    expect(aimAt(7, 1, 7, false)).toBe(7);
    expect(aimAt(1, -1, 7, false)).toBe(1);
  });

  it("follows the displayed direction on a flipped board", () => {
    expect(aimAt(4, 1, 7, true)).toBe(3);
    expect(aimAt(1, 1, 7, true)).toBe(1);
  });
});
