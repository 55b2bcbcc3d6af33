import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { en, type Texts } from "./en";
import { decimal, percent, plural, setLocale, whole } from "./format";
import { CODES, LANGUAGES, pickLanguage } from "./languages";

/** The names in the server's list of players. */
const NAMES = {
  agents: ["random", "influence", "minimax", "alphabeta", "mtdf", "timed", "mcts", "zero", "perfect", "proof"],
  parameters: ["depth", "eval", "ties", "ms", "sims", "model", "c", "cpuct", "nodes", "rule", "c1", "c2", "fpu", "batch", "temperature", "proofs", "every", "table", "threads", "book", "seed"],
  choices: ["on", "off", "centre", "first", "last", "random"],
  evaluations: ["sawwan", "galli", "nitk", "bits", "runs", "terminal", "influence"],
};
const VALUES = [
  ...["win", "loss", "draw", "points", "expected"].map((kind) => ({ kind, number: kind === "expected" ? 0.21 : 42 })),
  ...[42, -42, 0, 1].map((number) => ({ kind: "lines", number })),
];
const BOUNDS = [[1, 1], [-1, -1], [0, 0], [0, 1], [-1, 0], [-1, 1]];
const CERTAIN = [
  ...VALUES.map((value) => ({ value, at_least: 0, at_most: 0, no_loss_within: 0 })),
  ...BOUNDS.flatMap(([at_least, at_most]) => [0, 21].map((no_loss_within) => ({ value: null, at_least, at_most, no_loss_within }))),
];

/** One of every sentence of the coach. */
const COUPLES = [{ columns: [], only_marked: false }, { columns: [[21, 22]], only_marked: false }, { columns: [[21, 22]], only_marked: true }];
const BOTH = { winner: 0, loser: 1 };
const SENTENCES = [
  ...["drawn", "draw", "nobody_can_connect"].map((key) => ({ key })),
  { key: "won", winner: 0 },
  ...[1, 21].map((moves) => ({ key: "wins_in", winner: 1, moves })),
  { key: "best_play", moves: [21, 22, 23] },
  ...["wins_now", "threatens"].map((key) => ({ key, winner: 0, column: 21 })),
  { key: "double_threat", ...BOTH, columns: [21, 22] },
  { key: "stacked_threat", ...BOTH, column: 21 },
  ...[[21], [21, 22]].map((columns) => ({ key: "every_move_opens", ...BOTH, columns })),
  ...["must_block", "suppose"].map((key) => ({ key, loser: 1, column: 21 })),
  { key: "forced_moves", ...BOTH, moves: [21, 22, 23] },
  ...["every_reply", "every_reply_loses_now", "numbers"].map((key) => ({ key, ...BOTH })),
  ...COUPLES.flatMap((couples) => [[[21, 22]], [[21, 22], [23, 24]]].map((cells) => ({ key: "zugzwang", ...BOTH, cells, parity: "odd", couples }))),
  ...COUPLES.map((couples) => ({ key: "follow_up", ...BOTH, from: [21, 22], to: [23, 24], couples })),
  ...["no_four_for", "too_late", "no_four_left", "cannot_win_by_calculation"].map((key) => ({ key, player: 1 })),
  ...COUPLES.map((couples) => ({ key: "holds_by_follow_up", player: 0, opponent: 1, couples })),
  ...[1, 21].map((moves) => ({ key: "calculation", moves })),
  ...["keeps_win", "keeps_draw", "loses_slowest", "better_wins", "better_draws"].map((key) => ({ key, column: 21 })),
  { key: "wins_slower", column: 21, moves: 22, better: 23, better_moves: 24 },
  ...["win_to_draw", "win_to_loss", "draw_to_loss", "could_connect"].map((key) => ({ key, player: 0, column: 21 })),
  { key: "loses_sooner", column: 21, better: 22 },
  { key: "opens", opponent: 1, cell: [21, 22] },
  { key: "leaves_four", opponent: 1, column: 21 },
];

/** Sentences for which experienced players have terms. */
const IN_TERMS = ["double_threat", "every_move_opens", "forced_moves", "zugzwang", "follow_up", "holds_by_follow_up", "no_four_left"];

/** Arguments for texts that inspect theirs. All others get numbers that must appear in the result. */
const SAMPLES: Record<string, unknown[][]> = {
  title: [["Lab"]],
  agent: [["level:3"], ["minimax:depth=5,eval=lines"], ["zero:model=abc,sims=200"]],
  agentKind: [["minimax"]],
  "players.agent": [["level:3"], ["minimax:depth=21,eval=galli"], ["zero:model=22@23,sims=24"], ["timed:ms=25"]],
  "players.levelAbout": [[1], [2], [3], [4], [5], [6], [7], [8], [9], [10]],
  "players.kind": NAMES.agents.map((name) => [name]),
  "players.about": NAMES.agents.map((name) => [name]),
  "players.parameter": NAMES.parameters.map((name) => [name]),
  "players.parameterAbout": NAMES.parameters.filter((name) => name !== "eval" && name !== "model").map((name) => [name]),
  "players.choice": [...NAMES.choices, ...NAMES.evaluations].map((name) => [name]),
  "players.evaluationAbout": NAMES.evaluations.map((name) => [name]),
  "players.fieldError": [[{ must: "number" }, "x"], [{ must: "whole" }, "1.5"], [{ must: "min", limit: 21 }, "20"], [{ must: "max", limit: 21 }, "22"]],
  setup: [[{ cols: 21, rows: 22, connect: 23, ruleset: "standard" }], [{ cols: 21, rows: 22, connect: 23, ruleset: "lines" }]],
  setupShort: [[{ cols: 21, rows: 22, connect: 23, ruleset: "standard" }], [{ cols: 21, rows: 22, connect: 23, ruleset: "lines" }]],
  setupProblem: ["cols", "rows", "connect", "large"].map((problem) => [problem, { cols: 21, rows: 22, connect: 23 }]),
  "game.board": [[{ cols: 21, rows: 22 }, 23]],
  "game.reason": ["line", "board-full", "time", "forfeit", "resigned", "agreed", "abandoned"].flatMap((reason) =>
    [[0, false], [0, true], [null, false]].flatMap(([winner, lost]) => ["standard", "lines"].map((ruleset) => [{ winner, reason }, { connect: 21, ruleset }, lost])),
  ),
  "play.hintReason": [
    ...["wins-now", "must-block", "only-move", "draws"].map((because) => [{ because }]),
    ...["wins", "loses"].flatMap((because) => [21, 1].map((moves) => [{ because, moves }])),
    ...["better", "even", "worse"].map((side) => [{ because: "opinion", side }]),
  ],
  "study.analysis.value": VALUES.map((value) => [value]),
  "study.analysis.verdict.of": CERTAIN.map((certain) => [certain, "Red", "Yellow"]),
  "study.analysis.verdict.over": ["standard", "lines"].flatMap((ruleset) => [["Red", ruleset, [21, 22]], [null, ruleset, [21, 21]]]),
  "study.analysis.certain": CERTAIN.map((certain) => [certain]),
  "study.analysis.short": CERTAIN.map((certain) => [certain]),
  "study.analysis.does": CERTAIN.map((certain) => [certain]),
  "study.analysis.threat": [[21, 22, true, true, true], [21, 22, false, false, false]],
  "coach.decided": [
    ...["win-now", "must-block", "double-threat", "stacked-threats", "no-safe-move", "follow-up"].map((theme) => [theme, "Red", "Yellow", []]),
    ...["opens-four", "odd-threat"].map((theme) => [theme, "Red", "Yellow", [[21, 22]]]),
    ["even-threat", "Red", "Yellow", [[21, 22], [23, 24]]],
  ],
  "coach.say": SENTENCES.map((sentence) => [sentence, ["Red", "Yellow"]]),
  "coach.inTerms": SENTENCES.filter(({ key }) => IN_TERMS.includes(key)).map((sentence) => [sentence, ["Red", "Yellow"]]),
  "study.review.better": CERTAIN.map((certain) => [31, certain]),
  "study.review.played": CERTAIN.map((certain) => [31, certain]),
  "study.review.right": CERTAIN.map((certain) => [31, certain]),
  "study.review.rightSlower": CERTAIN.map((certain) => [31, certain, CERTAIN[0]]),
  "study.review.wrong": CERTAIN.map((certain) => [31, certain]),
  "study.review.hintIn": CERTAIN.map((certain) => [certain]),
  "study.review.solutionIs": CERTAIN.map((certain) => [31, certain]),
  "study.review.learn": [[true], [false]],
  "study.review.learnAbout": [[21, true], [21, false], [1, true], [1, false]],
  "study.review.noErrorsKnown": [[21, 22], [0, 22]],
  "study.puzzles.rightSlower": CERTAIN.map((certain) => [certain]),
  "study.puzzles.wrong": CERTAIN.map((certain) => [31, certain]),
  "study.review.hintSide": [["left"], ["middle"], ["right"]],
  "research.lab.happens.leaf": ["end", "table", "leaf", "max", "min"].map((kind) => ["21", kind, "22"]),
  "research.lab.happens.back": ["max", "min"].map((kind) => ["21", kind, "22"]),
};

/** Texts that may be empty, because they are joined with others. */
const EMPTY = /^research\.lab\.bounds\.exact$|^study\.puzzles\.grades\.0$/;

type Entry = { path: string; said: string[]; placeholders: number[] };

/** Every text; those with placeholders for one, two and many. */
function entries(value: unknown, path = ""): Entry[] {
  if (typeof value === "string") return [{ path, said: [value], placeholders: [] }];
  if (typeof value === "function") {
    const given = SAMPLES[path];
    const many = Array.from({ length: Math.max(1, value.length) }, (_, index) => 21 + index);
    const said = (given ?? [many, many.map(() => 1)]).map((values) => String((value as (...values: unknown[]) => unknown)(...values)));
    const all = (given ?? [many]).flatMap((values) => JSON.stringify(values).match(/\d+/g) ?? []).map(Number);
    return [{ path, said, placeholders: [...new Set(all)].filter((n) => n > 20 && new RegExp(`\\b${n}\\b`).test(said.join(" "))) }];
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, child]) => entries(child, path ? `${path}.${key}` : key));
  }
  return [];
}

const english = entries(en);

test("all texts are found", () => expect(english.length).toBeGreaterThan(400));

describe.each(CODES)("%s", (code) => {
  let texts: Texts;
  beforeAll(async () => {
    texts = await LANGUAGES[code].load();
    setLocale(LANGUAGES[code].locale);
  });
  afterAll(() => setLocale("en-GB"));

  test("has every key, and no other", () => {
    expect(entries(texts).map(({ path }) => path).sort()).toEqual(english.map(({ path }) => path).sort());
  });

  test("has no empty or broken texts", () => {
    const wrong = entries(texts).flatMap(({ path, said }) =>
      said.filter((text) => (text.trim() === "" && !EMPTY.test(path)) || /undefined|NaN|\[object|\$\{|  /.test(text)).map((text) => `${path}: '${text}'`),
    );
    expect(wrong).toEqual([]);
  });

  test("has the placeholders of the English text", () => {
    const wrong = entries(texts).flatMap(({ path, placeholders }) => {
      const expected = english.find((entry) => entry.path === path)?.placeholders ?? [];
      return placeholders.join() === expected.join() ? [] : [`${path}: ${placeholders} instead of ${expected}`];
    });
    expect(wrong).toEqual([]);
  });
});

test.each([
  ["auto", ["de-AT", "en"], "de"],
  ["auto", ["fr", "en-US"], "en"],
  ["auto", ["fr", "es-MX"], "es"],
  ["auto", ["fr"], "en"],
  ["auto", [], "en"],
  ["en", ["de"], "en"],
] as const)("chosen %s, browser %j: %s", (chosen, preferred, code) => expect(pickLanguage(chosen, preferred)).toBe(code));

test("numbers and plurals as English writes them", () => {
  expect([whole(5000), decimal(1.25, 1), percent(0.625, 1), percent(1)]).toEqual(["5,000", "1.3", "62.5%", "100%"]);
  expect([plural(1, { one: "game", other: "games" }), plural(1200, { one: "game", other: "games" })]).toEqual(["1 game", "1,200 games"]);
});
