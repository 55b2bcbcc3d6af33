import { describe, expect, it } from "vitest";
import { announce, announceOffers, announceStep, playerName, resultText } from "./announce";
import { agent, colours, seated, stranger, t, view } from "./samples";
import type { Seated } from "../types";

const say = (before: ReturnType<typeof view> | null, now: ReturnType<typeof view>) => announce(before, now, colours, t);
const between: [Seated, Seated] = [seated(), stranger];

describe("announcements", () => {
  it("include a move, its cell and the next turn", () => {
    expect(say(view([4]), view([4, 4]))).toBe("Yellow, column 4, row 2. Red to move.");
  });

  it("are empty for a game that was just opened or has not changed", () => {
    expect(say(null, view([4]))).toBe("");
    expect(say(view([4]), view([4], { version: 9 }))).toBe("");
  });

  it("include every move since", () => {
    expect(say(view([4]), view([4, 4, 5]))).toBe("Yellow, column 4, row 2. Red, column 5, row 1. Yellow to move.");
  });

  it("include takebacks", () => {
    expect(say(view([4, 4]), view([]))).toBe("Move taken back. Red to move.");
  });

  it("include the result", () => {
    const over = view([1, 2, 1, 2, 1, 2, 1], { status: "finished", to_move: null, result: { winner: 0, reason: "line" } });
    expect(say(view([1, 2, 1, 2, 1, 2]), over)).toBe("Red, column 1, row 4. You won: four in a row.");
  });

  it("include players who join and leave", () => {
    const waiting = view([], { status: "waiting", to_move: null, players: [seated(), seated({ kind: "open", you: false })] });
    expect(say(waiting, view([], { players: between }))).toBe("Ada has joined. Red to move.");
    const gone = view([4], { players: [seated(), { ...stranger, connected: false, away_ms: 100 }] });
    expect(say(view([4], { players: between }), gone)).toBe("Ada is disconnected.");
    expect(say(gone, view([4], { players: between }))).toBe("Ada is back.");
    // A player who has just joined does not count as reconnected.
    const joining = view([4], { players: [seated(), { ...stranger, connected: false }] });
    expect(say(joining, view([4], { players: between }))).toBe("");
  });
});

describe("offers", () => {
  const offer = (offers: Partial<ReturnType<typeof view>["offers"]>, columns = [4], changes = {}) =>
    view(columns, { players: between, offers: { draw: null, undo: null, rematch: null, ...offers }, ...changes });
  const announced = (before: ReturnType<typeof view>, now: ReturnType<typeof view>) => announceOffers(before, now, colours, t);

  it("are announced to both sides when they are made and when they are declined", () => {
    expect(announced(offer({}), offer({ draw: 1 }))).toBe("Ada offers a draw.");
    expect(announced(offer({}), offer({ draw: 0 }))).toBe("Draw offered. Waiting for an answer.");
    expect(announced(offer({ undo: 0 }), offer({}))).toBe("Ada declined the takeback.");
    expect(announced(offer({ undo: 1 }), offer({}))).toBe("Takeback declined.");
    expect(announced(offer({ undo: 0 }, [4, 4]), offer({}, [4]))).toBe("Takeback accepted.");
  });

  it("are not announced again when a move or the end answers them", () => {
    expect(announced(offer({ draw: 1 }), offer({}, [4, 4]))).toBe("");
    expect(announced(offer({ draw: 1 }), offer({}, [4], { status: "finished" }))).toBe("");
    expect(announced(offer({ draw: 1 }), offer({ draw: 1 }))).toBe("");
  });
});

describe("a step through the game", () => {
  it("announces the move that leads there", () => {
    expect(announceStep(view([4, 4]), 2, colours, t)).toBe("Move 2 of 2: Yellow, column 4, row 2.");
    expect(announceStep(view([4, 4]), 0, colours, t)).toBe("Start position.");
  });
});

describe("a result", () => {
  const end = (winner: 0 | 1 | null, reason: string, players?: [Seated, Seated]) =>
    resultText(view([4], { status: "finished", result: { winner, reason }, ...(players ? { players } : {}) }), colours, t);

  it("is announced from the user's point of view", () => {
    expect(end(0, "line")).toBe("You won: four in a row");
    expect(end(1, "time")).toBe("You lost: you ran out of time");
    expect(end(1, "line")).toBe("You lost: four in a row");
    expect(end(1, "abandoned")).toBe("You lost: you left the game");
    expect(end(0, "abandoned")).toBe("You won: opponent left");
    expect(end(null, "agreed")).toBe("Draw: by agreement");
    expect(end(null, "board-full")).toBe("Draw: the board is full");
  });

  it("is announced by colour in local games and by name to spectators", () => {
    expect(end(1, "line", [seated(), seated()])).toBe("Yellow won: four in a row");
    expect(end(0, "resigned", [stranger, agent])).toBe("Ada won: opponent resigned");
    expect(end(1, "line", [stranger, agent])).toBe("Level 3 won: four in a row");
  });
});

describe("names", () => {
  it("are the given ones, or colours", () => {
    const game = view([], { players: between });
    expect(playerName(game, 0, colours, t)).toBe("You");
    expect(playerName(game, 1, colours, t)).toBe("Ada");
    expect(playerName(view([], { players: [seated(), seated()] }), 1, colours, t)).toBe("Yellow");
    expect(playerName(view(), 1, colours, t)).toBe("Level 3");
  });
});
