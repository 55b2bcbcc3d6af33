/** From the form of a new game to what the server is asked for. */

import type { Clock, NewGame, Player, Seat, Setup } from "../types";
import { STANDARD } from "./setup";
import { other } from "./view";

export const KINDS = ["level", "algorithm", "friend", "two", "watch"] as const;
export type Kind = (typeof KINDS)[number];

export interface Form {
  kind: Kind;
  level: number;
  /** The opponent's text, when it is chosen by algorithm. */
  agent: string;
  /** Both players' texts, when two of them are watched. */
  agents: [string, string];
  /** The person's colour. */
  colour: Player;
  first: "you" | "other" | "random";
  setup: Setup;
  /** Minutes and seconds per move. */
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
  // At one screen, and with nobody to play, "you" is the first colour.
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

/** The shortest and longest time on a clock that the server accepts. */
export const CLOCK_MINUTES = { least: 1 / 60, most: 180 };

/** Clocks that cannot be played are told apart before the server is asked. */
export function clockProblem(clock: Form["clock"]): boolean {
  if (!clock) return false;
  const { minutes, increment } = clock;
  return !(minutes >= CLOCK_MINUTES.least && minutes <= CLOCK_MINUTES.most) || !(increment >= 0 && increment <= 180);
}
