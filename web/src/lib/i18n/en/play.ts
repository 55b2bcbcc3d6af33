/** Texts of the game page: playback, hints, offers, sound. */

import type { Area, HintReason } from "../../transitions/hint";
import type { Pace } from "../../transitions/pace";
import { plural } from "../format";

const movesText = (n: number): string => plural(n, { one: "move", other: "moves" });

export const play = {
  playback: {
    label: "Playback",
    play: "Play",
    pause: "Pause",
    replay: "Replay",
    pace: "Speed",
    paces: { slow: "Slow", normal: "Normal", fast: "Fast", live: "Live" } satisfies Record<Pace, string> as Record<Pace, string>,
    behind: (n: number) => `${movesText(n)} behind`,
  },

  sound: { mute: "Mute sound", unmute: "Turn sound on" },

  areas: { left: "on the left", middle: "in the middle", right: "on the right" } satisfies Record<Area, string> as Record<Area, string>,
  hintArea: (area: string) => `Look for a move ${area}.`,
  hintReason: (reason: HintReason): string => {
    switch (reason.because) {
      case "wins-now":
        return "You can win with this move.";
      case "must-block":
        return "Your opponent is about to win. You have to block.";
      case "only-move":
        return "Every other move loses.";
      case "wins":
        return `You can force a win in ${movesText(reason.moves)}.`;
      case "draws":
        return "With best play from both sides, it is a draw.";
      case "loses":
        return `Your opponent can force a win. This move holds out longest: ${movesText(reason.moves)}.`;
      case "opinion":
        return { better: "A quick search suggests that you are ahead.", even: "A quick search suggests that the position is even.", worse: "A quick search suggests that your opponent is ahead." }[reason.side];
    }
  },
  hintColumn: (column: number) => `Play column ${column}.`,
  hintMore: { 1: "Why?", 2: "Which column?", 3: "Hint" } as Record<number, string>,

  afterMove: (ply: number, moves: number, what: string) => `Move ${ply} of ${moves}: ${what}`,
  start: "Start position.",

  offerSent: { draw: "Draw offered. Waiting for an answer.", undo: "Takeback requested. Waiting for an answer.", rematch: "Rematch offered. Waiting for an answer." },
  offerDeclined: {
    draw: (name: string) => `${name} declined the draw.`,
    undo: (name: string) => `${name} declined the takeback.`,
    rematch: (name: string) => `${name} declined the rematch.`,
  },
  youDeclined: { draw: "Draw declined.", undo: "Takeback declined.", rematch: "Rematch declined." },
  takebackAccepted: "Takeback accepted.",

  nameTitle: "What is your name?",
  nameSave: "Continue",
};
