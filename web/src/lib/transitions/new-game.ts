/** From the form for a new game to the server's request. */

import type { Clock, NewGame, Player, Seat, Setup } from "../types";
import { STANDARD } from "./setup";
import { other } from "./view";

export const KINDS = ["level", "algorithm", "friend", "two", "watch"] as const;
export type Kind = (typeof KINDS)[number];

export interface Form {
  kind: Kind;
  level: number;
  /** The opponent's agent text, if an algorithm was chosen. */
  agent: string;
  /** The agent texts of both players, if the user watches. */
  agents: [string, string];
  /** The user's colour. */
  colour: Player;
  first: "you" | "other" | "random";
  setup: Setup;
  /** Minutes per player and seconds per move. */
  clock: { minutes: number; increment: number } | null;
  name: string;
}

export function defaultForm(level: number, name: string): Form {
  return {
    kind: "level",
    level,
    agent: "mtdf",
    agents: [`level:${Math.max(1, level - 1)}`, `level:${level}`],
    colour: 0,
    first: "you",
    setup: { ...STANDARD },
    clock: null,
    name,
  };
}

export function newGame(form: Form): NewGame {
  const human: Seat = form.name.trim() ? { kind: "human", name: form.name.trim() } : { kind: "human" };
  // In a local game, or when watching, "you" is the first colour.
  const near: Player = form.kind === "two" || form.kind === "watch" ? 0 : form.colour;
  const seats: [Seat, Seat] = [human, opponent(form)];
  if (form.kind === "watch") seats[0] = { kind: "agent", agent: form.agents[0] };
  if (form.kind === "two") seats[0] = { kind: "human" };
  return {
    setup: form.setup,
    seats: near === 0 ? seats : [seats[1], seats[0]],
    first: form.first === "random" ? null : form.first === "you" ? near : other(near),
    clock: clockOf(form.clock),
  };
}

function opponent(form: Form): Seat {
  switch (form.kind) {
    case "level":
      return { kind: "agent", agent: `level:${form.level}` };
    case "algorithm":
      return { kind: "agent", agent: form.agent };
    case "friend":
      return { kind: "open" };
    case "two":
      return { kind: "human" };
    case "watch":
      return { kind: "agent", agent: form.agents[1] };
  }
}

function clockOf(clock: Form["clock"]): Clock | null {
  return clock && { initial_ms: Math.round(clock.minutes * 60_000), increment_ms: Math.round(clock.increment * 1000) };
}

/** The shortest and longest clock that the server accepts. */
export const CLOCK_MINUTES = { min: 1 / 60, max: 180 };

/** Checks a clock before the server is asked. */
export function clockProblem(clock: Form["clock"]): boolean {
  if (!clock) return false;
  const { minutes, increment } = clock;
  return !(minutes >= CLOCK_MINUTES.min && minutes <= CLOCK_MINUTES.max) || !(increment >= 0 && increment <= 180);
}
