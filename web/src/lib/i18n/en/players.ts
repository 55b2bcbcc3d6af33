/** The computer players: names, parameters and descriptions, keyed by the names in agent texts. */

import { levelOf, parseAgent, type FieldError } from "../../transitions/agent-text";
import { plural, whole } from "../format";

const NAMES: Record<string, string> = {
  random: "Random",
  influence: "Influence map",
  minimax: "Minimax",
  alphabeta: "Alpha-beta",
  mtdf: "MTD(f)",
  timed: "Iterative deepening",
  mcts: "Monte Carlo",
  zero: "AlphaZero",
  perfect: "Perfect",
  proof: "Proof",
};

const ABOUT: Record<string, string> = {
  random: "Plays any legal column with equal probability.",
  influence: "Follows an influence map, without search.",
  minimax: "Searches every sequence of moves to a fixed depth.",
  alphabeta: "Minimax without the moves that cannot change the result.",
  mtdf: "Finds the minimax value by a series of narrow searches with a transposition table.",
  timed: "Searches deeper and deeper until its time is up.",
  mcts: "Monte Carlo tree search with random games.",
  zero: "A neural network that learnt by playing against itself, with tree search.",
  perfect: "Always plays the fastest win, otherwise a draw, otherwise the slowest loss.",
  proof: "Follows a proof that the first player wins on 7×6, or the second player on 6×6, without search.",
};

const LEVELS = [
  "For your first game: likes the centre and overlooks a lot.",
  "Looks at your reply, but sometimes overlooks three in a row.",
  "Never misses an immediate win and blocks most of yours.",
  "Sets up simple double threats.",
  "Thinks four moves ahead, with a few inaccuracies.",
  "Thinks six moves ahead: a good club player.",
  "Knows how every move turns out, but is easily distracted.",
  "An expert with a weakness for the second-best move.",
  "A master who makes one or two mistakes per game.",
  "Perfect: never gives away a win or a draw.",
];

const PARAMETERS: Record<string, string> = {
  depth: "Depth",
  eval: "Evaluation",
  ties: "Tie-breaking",
  ms: "Time per move (ms)",
  sims: "Simulations",
  model: "Network",
  c: "Exploration",
  cpuct: "Exploration",
  nodes: "Positions per move",
  rule: "Selection rule",
  c1: "Confidence weight",
  c2: "Policy weight",
  fpu: "Penalty for untried moves",
  batch: "Batch size",
  temperature: "Temperature",
  proofs: "Proven results",
  every: "Exact value of every move",
  table: "Table size (MB)",
  threads: "Threads",
  book: "Opening book",
  seed: "Seed",
};

const PARAMETERS_ABOUT: Record<string, string> = {
  depth: "How many moves it looks ahead, counting both sides.",
  ties: "Which of several equally good moves is played.",
  ms: "In milliseconds.",
  sims: "Games simulated for each move.",
  c: "Higher values try more different moves.",
  cpuct: "Higher values try more different moves.",
  nodes: "Searches no more positions than this.",
  rule: "How the search selects the next move to try.",
  c1: "Weight of the confidence interval in UCB.",
  c2: "Weight of the policy in UCB.",
  fpu: "How far below its parent position an untried move is rated.",
  batch: "Positions evaluated together. More is faster and slightly weaker.",
  temperature: "0 always plays the best move; higher values are more random.",
  proofs: "Recognise forced wins and losses.",
  every: "Slower, but shows the value of every column.",
  table: "Memory for the transposition table.",
  threads: "Processor threads per position.",
  book: "Use the opening book.",
  seed: "The same seed gives the same game. Leave empty for a new one each time.",
};

const CHOICES: Record<string, string> = {
  on: "On",
  off: "Off",
  centre: "Nearest to the centre",
  first: "First column",
  last: "Last column",
  random: "Random",
  sawwan: "Sawwan",
  galli: "Galli",
  nitk: "NITK",
  bits: "Bits",
  runs: "Runs",
  terminal: "Results only",
  influence: "Influence map",
};

const EVALUATIONS: Record<string, string> = {
  sawwan: "Scores groups of four cells, with very high weights for the opponent's threes.",
  galli: "Scores groups of four cells by the discs in them, with a bonus for the centre.",
  nitk: "Scores groups of four cells, defends against threes and likes the centre.",
  bits: "Scores your groups of four cells minus the opponent's, without a bonus for the centre.",
  runs: "Scores runs of discs next to empty cells; each additional disc counts a hundred times as much.",
  terminal: "Scores finished games only; everything else counts 0.",
  influence: "Adds up the influence map of both players.",
};

/** A parameter of an agent text in words. */
function part(key: string, value: string, network: (id: string) => string): string {
  switch (key) {
    case "depth":
      return `depth ${value}`;
    case "sims":
      return value === "0" ? "without search" : plural(Number(value), { one: "simulation", other: "simulations" });
    case "ms":
      return `${whole(Number(value))} ms per move`;
    case "model": {
      const [id = value, iteration] = value.split("@");
      return `network '${network(id)}'${iteration ? ` #${iteration}` : ""}`;
    }
    default:
      return `${(PARAMETERS[key] ?? key).replace(/ \(.*/, "").toLowerCase()}: ${(CHOICES[value] ?? value).toLowerCase()}`;
  }
}

export const players = {
  level: (level: number): string => `Level ${level}`,
  levelAbout: (level: number): string => LEVELS[level - 1] ?? "",
  /** "AlphaZero, network 'my first' #98, 200 simulations". */
  agent: (text: string, network = (id: string): string => id): string => {
    const level = levelOf(text);
    if (level !== null) return `Level ${level}`;
    const { name, fields } = parseAgent(text);
    const shown = Object.entries(fields).filter(([key]) => key !== "seed");
    // The network comes first.
    shown.sort(([a], [b]) => Number(b === "model") - Number(a === "model"));
    return [NAMES[name] ?? name, ...shown.map(([key, value]) => part(key, value, network))].join(", ");
  },
  kind: (name: string): string => NAMES[name] ?? name,
  about: (name: string): string => ABOUT[name] ?? "",
  parameter: (name: string): string => PARAMETERS[name] ?? name,
  parameterAbout: (name: string): string => PARAMETERS_ABOUT[name] ?? "",
  choice: (value: string): string => CHOICES[value] ?? value,
  evaluationAbout: (name: string): string => EVALUATIONS[name] ?? "",
  fieldError: (error: FieldError, text: string): string => {
    switch (error.must) {
      case "number":
        return `'${text}' is not a number.`;
      case "whole":
        return `'${text}' is not a whole number.`;
      case "min":
        return `Must be at least ${error.limit}.`;
      case "max":
        return `Must be at most ${error.limit}.`;
    }
  },
};
