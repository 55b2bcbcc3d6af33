import { describe, expect, it } from "vitest";
import { agent, seated, stranger, view } from "./samples";
import { apply, asOf, nearPlayer, offerToAnswer, rights, stillPending } from "./view";

describe("a view that arrives", () => {
  it("replaces an older one and not a newer one", () => {
    const [old, young] = [view([4], { version: 3 }), view([4, 4], { version: 4 })];
    expect(apply(old, young)).toBe(young);
    expect(apply(young, old)).toBe(young);
  });

  it("replaces that of another game, whatever its version", () => {
    const other = view([], { id: "g2", version: 0 });
    expect(apply(view([4, 4], { version: 9 }), other)).toBe(other);
  });

  it("ends the pending move once the game has moved on", () => {
    const pending = { column: 4, ply: 2, player: 0 as const };
    expect(stillPending(pending, view([4, 4]))).toBe(pending);
    expect(stillPending(pending, view([4, 4, 4]))).toBeNull();
    expect(stillPending(pending, view([4]))).toBeNull();
    expect(stillPending(pending, view([4, 4], { status: "finished" }))).toBeNull();
  });

  it("can be shown as of an earlier ply", () => {
    const over = view([1, 2, 1, 2, 1, 2, 1], { status: "finished", to_move: null, result: { winner: 0, reason: "line" } });
    expect(asOf(over, 6)).toMatchObject({ status: "playing", to_move: 0, result: null });
    expect(asOf(over, 6).moves).toHaveLength(6);
    expect(asOf(over, 7)).toMatchObject({ status: "finished", to_move: null, result: { winner: 0 } });
    expect(asOf(view([4], { first: 1 }), 1).to_move).toBe(0);
  });
});

describe("what the user may do", () => {
  it("move in turn, with hints and undo against an agent", () => {
    expect(rights(view([]))).toMatchObject({ move: true, undo: false, hint: true, draw: false, resign: true });
    expect(rights(view([4]))).toMatchObject({ move: false, undo: true, hint: false });
    expect(rights(view([4, 4], { undone: 2 }))).toMatchObject({ move: true, undo: true, redo: true });
  });

  it("make requests and offers between people, without hints", () => {
    const between = { players: [seated(), stranger] as [typeof stranger, typeof stranger] };
    expect(rights(view([4, 4], between))).toMatchObject({ move: true, undo: true, hint: false, draw: true, redo: false });
  });

  it("everything in a local game", () => {
    const hotSeat = view([4], { players: [seated(), seated()] });
    expect(rights(hotSeat)).toMatchObject({ move: true, undo: true, hint: true, draw: false });
  });

  it("nothing as a spectator, except joining an open seat", () => {
    const watched = view([4], { mine: false, players: [stranger, agent] });
    expect(Object.values(rights(watched)).some(Boolean)).toBe(false);
    const open = view([], { mine: false, status: "waiting", to_move: null, players: [stranger, seated({ kind: "open", you: false })] });
    expect(rights(open)).toMatchObject({ join: true, move: false });
    expect(rights({ ...open, mine: true })).toMatchObject({ join: false });
  });

  it("not undo opening moves, nor resign for two agents", () => {
    expect(rights(view([4, 4], { opening: 2 }))).toMatchObject({ undo: false });
    expect(rights(view([4], { players: [agent, agent] }))).toMatchObject({ resign: false, undo: false });
  });

  it("a rematch when it is over, and undo only if it ended on the board", () => {
    const over = { status: "finished" as const, to_move: null };
    expect(rights(view([4], { ...over, result: { winner: 0, reason: "line" } }))).toMatchObject({ rematch: true, undo: true, resign: false });
    expect(rights(view([4], { ...over, result: { winner: 1, reason: "resigned" } }))).toMatchObject({ rematch: true, undo: false });
  });
});

describe("seats", () => {
  it("show the user's below the board", () => {
    expect(nearPlayer(view([]))).toBe(0);
    expect(nearPlayer(view([], { players: [agent, seated()] }))).toBe(1);
    expect(nearPlayer(view([], { players: [agent, agent], mine: true }))).toBe(0);
  });

  it("get the opponent's offers and not their own", () => {
    const offers = { draw: null, undo: null, rematch: null };
    const players: [typeof stranger, typeof stranger] = [seated(), stranger];
    expect(offerToAnswer(view([4], { players, offers: { ...offers, draw: 1 } }))).toBe("draw");
    expect(offerToAnswer(view([4], { players, offers: { ...offers, draw: 0 } }))).toBeNull();
    expect(offerToAnswer(view([4], { players, offers: { ...offers, undo: 1 } }))).toBe("undo");
    expect(offerToAnswer(view([4], { players, rematch: "g2", offers: { ...offers, rematch: 1 } }))).toBeNull();
  });
});
