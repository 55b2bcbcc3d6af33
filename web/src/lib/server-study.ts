/** Server calls of the study pages. */

import { call } from "./server";
import type { Analysis, Explained, Explored, Opinion, PositionText, Puzzles, ReadPosition, Review, Statistics } from "./types-study";
import type { Setup } from "./types";

export const studyServer = {
  /** The value of every move: what is known at once, or with `thorough` after a longer search. */
  analyze: (position: PositionText, thorough: boolean, signal?: AbortSignal) =>
    call<Analysis>("POST", "/api/analysis", { position: positionBody(position), thorough }, signal),
  /** The same, with the longer search only if needed. */
  async analyzeFully(position: PositionText): Promise<Analysis> {
    const first = await this.analyze(position, false);
    return first.exact ? first : this.analyze(position, true);
  },
  /** Why a position is won, lost or drawn; with a column, what that move does. */
  explain: (position: PositionText, column: number | null, signal?: AbortSignal) =>
    call<Explained>("POST", "/api/explain", column === null ? { position: positionBody(position) } : { position: positionBody(position), column }, signal),
  opinion: (position: PositionText, agent: string, signal?: AbortSignal) =>
    call<Opinion>("POST", "/api/analysis/opinion", { position: positionBody(position), agent }, signal),
  read: (setup: Setup, text: string) => call<ReadPosition>("POST", "/api/positions", { setup, text }),
  review: (id: string) => call<Review>("GET", `/api/games/${encodeURIComponent(id)}/review`),
  statistics: (mine: boolean) => call<Statistics>("GET", `/api/statistics?mine=${mine}`),
  explore: (moves: string, mine: boolean, signal?: AbortSignal) => call<Explored>("GET", `/api/explorer?moves=${encodeURIComponent(moves)}&mine=${mine}`, undefined, signal),
  puzzles: () => call<Puzzles>("GET", "/api/puzzles"),
  /** Counts the first try of a puzzle, for its rating. */
  tryPuzzle: (moves: string, solved: boolean) => call<null>("POST", "/api/puzzles/attempts", { moves, solved }),
};

function positionBody({ setup, board, moves }: PositionText): object {
  return board === null ? { setup, moves } : { setup, board, moves };
}
