/** The lessons: their data, the comment on an answer, and the progress that is stored in the browser. */

import data from "../learn/lessons.json";
import type { Texts } from "../i18n/en";
import type { Cell, Player } from "../types";
import { columnOfLetter } from "./position";

/** The consequences of playing a column, computed by the solver like everything else about the positions. */
export interface Answer {
  column: number;
  result: "win" | "draw" | "loss";
  /** The discs that the winner still has to play. */
  moves?: number;
  note?: { kind: "misses-four" | "opens" | "leaves-four"; cell: Cell };
  /** Best play after it: to the end if it is near, otherwise the best reply. */
  line: number[];
  /** After a right answer: the empty cells where the player would connect four. */
  threats?: Cell[];
}

export interface Exercise {
  moves: string;
  task: "now" | "block" | "fastest" | "keep";
  accepted: number[];
  answers: Answer[];
}

export interface Lesson {
  id: LessonId;
  part: "basics" | "attack" | "threats" | "openings";
  exercises: Exercise[];
  /** The practice game at the end; the user plays the side to move. */
  practice: { moves: string; level: number; goal: "win" | "draw" };
}

export type LessonId = keyof Texts["learn"]["lessons"];
type Words = Texts["learn"];

export const LESSONS = data.lessons as unknown as Lesson[];

export const PARTS = [...new Set(LESSONS.map((lesson) => lesson.part))];

/** The empty board, where any column will do. */
const ANYWHERE: Exercise = {
  moves: "",
  task: "keep",
  accepted: [1, 2, 3, 4, 5, 6, 7],
  answers: [1, 2, 3, 4, 5, 6, 7].map((column) => ({ column, result: "draw", line: [] })),
};

/** The boards of the tutorial: after the first disc, exercises of the lessons. */
export const TUTORIAL: Exercise[] = [ANYWHERE, ...(["four", "block", "open-three", "below"] as const).map((id) => LESSONS.find((lesson) => lesson.id === id)!.exercises[0]!)];

export function lessonOf(id: string | null): Lesson | null {
  return LESSONS.find((lesson) => lesson.id === id) ?? null;
}

/** The columns of the moves before an exercise. */
export function columnsOf({ moves }: { moves: string }): number[] {
  return [...moves].map(columnOfLetter);
}

/** Who is to move. The first player has the first colour. */
export function sideToMove({ moves }: { moves: string }): Player {
  return (moves.length % 2) as Player;
}

export function answerOf(exercise: Exercise, column: number): Answer | null {
  return exercise.answers.find((answer) => answer.column === column) ?? null;
}

/** What to do in an exercise. */
export function promptOf({ task, answers }: Exercise, colour: string, words: Words): string {
  if (task !== "keep") return words.prompt[task](colour);
  return words.prompt[answers.some(({ result }) => result === "win") ? "win" : "draw"](colour);
}

/** A forced four that takes at most this many discs is mentioned; later ones only by their result. */
const NEAR = 5;

/** Why an answer is wrong. */
export function wrongText({ accepted, answers }: Exercise, { column, result, moves = 0, note, line }: Answer, words: Words): string {
  if (accepted.includes(column)) return "";
  switch (note?.kind) {
    case "misses-four":
      return words.misses(...note.cell);
    case "opens":
      return words.opens(...note.cell);
    case "leaves-four":
      return words.leaves(...note.cell);
  }
  if (result === "win") return words.slower(moves);
  const reply = line[0] ?? answers[0]!.column;
  if (result === "draw") return words.draws(reply);
  return moves <= NEAR && line.length > 1 ? words.loses(moves) : words.losesLate(reply, moves);
}

/** The cells where the player would connect four after a right answer. */
export function threatsText({ threats = [] }: Answer, words: Words): string {
  return threats.length === 0 ? "" : words.marked(threats.map((cell) => words.cell(...cell)).join("; "));
}

/** The progress stored in the browser. */
export interface Progress {
  /** The solved exercises, as `lesson/number`. */
  solved: string[];
}

export const NO_PROGRESS: Progress = { solved: [] };

/** Parses stored progress; invalid data counts as none, and exercises that no longer exist are dropped. */
export function parseProgress(text: string | null): Progress {
  try {
    const { solved } = JSON.parse(text ?? "") as Partial<Progress>;
    const known = new Set(LESSONS.flatMap((lesson) => lesson.exercises.map((_, number) => keyOf(lesson.id, number))));
    return { solved: Array.isArray(solved) ? [...new Set(solved.filter((key) => known.has(key)))] : [] };
  } catch {
    return NO_PROGRESS;
  }
}

export function keyOf(lesson: string, exercise: number): string {
  return `${lesson}/${exercise}`;
}

export function isDone({ id, exercises }: Lesson, { solved }: Progress): boolean {
  return exercises.every((_, number) => solved.includes(keyOf(id, number)));
}

export function doneCount(progress: Progress): number {
  return LESSONS.filter((lesson) => isDone(lesson, progress)).length;
}

/** The first lesson that is not done, or null. */
export function nextUndone(progress: Progress): Lesson | null {
  return LESSONS.find((lesson) => !isDone(lesson, progress)) ?? null;
}

/** The lesson after another one. */
export function lessonAfter(id: string): Lesson | null {
  return LESSONS[LESSONS.findIndex((lesson) => lesson.id === id) + 1] ?? null;
}

/** The exercise to start with: the first unsolved one, or the first one if all are solved. */
export function firstOpen({ id, exercises }: Lesson, { solved }: Progress): number {
  return Math.max(0, exercises.findIndex((_, number) => !solved.includes(keyOf(id, number))));
}
