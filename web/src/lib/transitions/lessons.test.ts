import { describe, expect, test } from "vitest";
import { CODES, LANGUAGES } from "../i18n/languages";
import { en } from "../i18n/en";
import {
  answerOf,
  doneCount,
  firstOpen,
  isDone,
  keyOf,
  lessonAfter,
  lessonOf,
  LESSONS,
  nextUndone,
  NO_PROGRESS,
  parseProgress,
  promptOf,
  sideToMove,
  threatsText,
  TUTORIAL,
  wrongText,
} from "./lessons";
import { discsOfText } from "./position";
import { STANDARD } from "./setup";

const words = en.learn;

describe("the lessons", () => {
  test("are 24, each with its own id and two or three positions that fit on the board", () => {
    expect(new Set(LESSONS.map(({ id }) => id)).size).toBe(LESSONS.length);
    expect(LESSONS.length).toBeGreaterThanOrEqual(24);
    for (const { exercises } of LESSONS) {
      expect([2, 3]).toContain(exercises.length);
      for (const { moves, accepted, answers } of exercises) {
        expect(discsOfText(moves, 0, STANDARD)).toHaveLength(moves.length);
        expect(accepted.every((column) => answers.some((answer) => answer.column === column))).toBe(true);
      }
    }
  });

  test.each(CODES)("have texts for every position in %s", async (code) => {
    const { learn } = await LANGUAGES[code].load();
    expect(Object.keys(learn.lessons)).toEqual(LESSONS.map(({ id }) => id));
    for (const { id, exercises } of LESSONS) expect(learn.lessons[id].right).toHaveLength(exercises.length);
    expect(learn.tutorial.steps).toHaveLength(TUTORIAL.length);
    // Every comment on a wrong answer is a whole sentence.
    const comments = LESSONS.flatMap(({ exercises }) =>
      exercises.flatMap((exercise) => exercise.answers.filter(({ column }) => !exercise.accepted.includes(column)).map((answer) => wrongText(exercise, answer, learn))),
    );
    expect(comments.length).toBeGreaterThan(200);
    expect(comments.filter((comment) => !/^[A-ZÁÉÍÓÚÑ¿¡].*\.$/.test(comment))).toEqual([]);
  });
});

describe("feedback", () => {
  const exercise = (lesson: string, number: number) => lessonOf(lesson)!.exercises[number]!;
  const comment = (lesson: string, number: number, column: number) => wrongText(exercise(lesson, number), answerOf(exercise(lesson, number), column)!, words);

  test.each([
    ["four", 0, 1, "You could have connected four at column 6, row 1."],
    ["block", 0, 1, "Your opponent connects four at column 7, row 1."],
    ["below", 0, 4, "Your disc lets your opponent reach column 4, row 3: four in a row."],
    ["double", 1, 1, "Your opponent can now force four in a row, with 3 more discs."],
    ["double", 0, 2, "With best play this loses in 15 moves. The strongest reply is column 1."],
    ["first-moves", 1, 4, "This gives the win away: with best play it is only a draw. The best reply is column 4."],
  ])("%s %i, column %i: %s", (lesson, number, column, text) => expect(comment(lesson, number, column)).toBe(text));

  test("a right answer has no comment on mistakes, and its threats are named", () => {
    expect(comment("four", 0, 6)).toBe("");
    expect(threatsText(answerOf(exercise("odd", 0), 3)!, words)).toBe("Marked on the board: you connect four at column 4, row 3.");
    expect(threatsText(answerOf(exercise("four", 0), 6)!, words)).toBe("");
  });

  test("the prompt addresses the side to move", () => {
    expect(promptOf(exercise("four", 0), "Red", words)).toBe("You are Red. Connect four!");
    expect(promptOf(exercise("centre", 2), "Yellow", words)).toBe("You are Yellow. Find a move that does not lose.");
    expect(promptOf(exercise("even", 0), "Yellow", words)).toBe("You are Yellow. Find a move that wins.");
    expect(sideToMove(exercise("even", 0))).toBe(1);
  });
});

describe("progress", () => {
  const first = LESSONS[0]!;
  const all = (id: string) => ({ solved: lessonOf(id)!.exercises.map((_, number) => keyOf(id, number)) });

  test("starts with the first lesson and continues with the next unfinished one", () => {
    expect(nextUndone(NO_PROGRESS)).toBe(first);
    expect(nextUndone(all(first.id))).toBe(LESSONS[1]);
    expect(lessonAfter(first.id)).toBe(LESSONS[1]);
    expect(lessonAfter(LESSONS.at(-1)!.id)).toBe(null);
    expect(nextUndone({ solved: LESSONS.flatMap(({ id }) => all(id).solved) })).toBe(null);
  });

  test("counts a lesson when all of its positions are solved", () => {
    const half = { solved: [keyOf(first.id, 0)] };
    expect([isDone(first, half), doneCount(half), firstOpen(first, half)]).toEqual([false, 0, 1]);
    expect([isDone(first, all(first.id)), doneCount(all(first.id)), firstOpen(first, all(first.id))]).toEqual([true, 1, 0]);
  });

  test.each([null, "", "{", "[]", '{"solved":7}', '{"solved":["nothing/0","four/9"]}'])("%j is no progress", (text) => expect(parseProgress(text)).toEqual(NO_PROGRESS));

  test("is read back as it was written", () => {
    const some = { solved: ["four/0", "block/2"] };
    expect(parseProgress(JSON.stringify(some))).toEqual(some);
  });
});
