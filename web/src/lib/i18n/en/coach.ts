/** Explanations in words: a text for every sentence of the coach. */

import type { Sentence } from "../../types-study";
import { plural as counted } from "../format";

const plural = (n: number, one: string, other = `${one}s`): string => counted(n, { one, other });
const listed = (items: (string | number)[]): string => (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`);
const cell = ([column, row]: [number, number]): string => `column ${column}, row ${row}`;
const inOrder = (moves: number[]): string => moves.join("-");
const coupled = ({ columns, only_marked }: { columns: [number, number][]; only_marked: boolean }): string => {
  if (columns.length === 0) return "";
  return only_marked ? " (the next discs in marked columns answer each other)" : ` (the next discs in columns ${columns.map((couple) => couple.join(" and ")).join(", ")} answer each other)`;
};

export const coach = {
  why: "Why?",
  whyColumn: (column: number) => `Why? Column ${column}`,
  whyPosition: "The position",
  close: "Close the explanation",
  thinking: "Looking for a reason…",
  plan: "Step by step",
  marks: "On the board: paired cells, of which each player gets one; hatched cells, which the winner avoids; and a ring around the deciding cell.",
  better: (column: number) => `Show column ${column}`,
  /** The game in a sentence: who had the win, or the draw, until which move. */
  turned: {
    win: (colour: string, ply: number, column: number) => `${colour} was winning until move ${ply}, column ${column}.`,
    draw: (ply: number, column: number) => `The game was level until move ${ply}, column ${column}.`,
  },
  /** What decided the game, by the theme of the mistake: the winner, the one who made it, and the deciding cells. */
  decided: (theme: string, winner: string, loser: string, cells: [number, number][]): string => {
    const places = listed(cells.map(cell));
    switch (theme) {
      case "win-now":
        return `${loser} missed a chance to connect four.`;
      case "must-block":
        return `${loser} did not block ${winner}'s four in a row.`;
      case "opens-four":
        return `That move allowed ${winner} to connect four at ${places}.`;
      case "double-threat":
        return `${winner}'s double threat decided it.`;
      case "stacked-threats":
        return `${winner}'s two threats, one right above the other, decided it.`;
      case "odd-threat":
      case "even-threat":
        if (cells.length === 0) return "";
        return cells.length === 1 ? `${winner}'s threat at ${places} decided it.` : `${winner}'s threats at ${places} decided it.`;
      case "no-safe-move":
        return `In the end ${loser} had no safe move left.`;
      case "follow-up":
        return `From then on ${winner} could answer right above every move.`;
      default:
        return "";
    }
  },
  /** The win that was given away, in a drawn game. */
  missed: (theme: string) => `What was missed: ${theme}.`,
  /** What to look for, by the kind of reason, without the move. */
  themes: {
    double_threat: "Look for two threats at once.",
    forced: "Look for threats that have to be blocked.",
    every_reply: "Look for a move after which every reply loses by force.",
    every_move_opens: "Your opponent will soon have no safe move left.",
    zugzwang: "Think ahead to the endgame: who will have to play right below your threat?",
    follow_up: "Answer right above your opponent's discs, and you will get the cells you need.",
  } as Record<string, string>,
  show: "Show the moment",
  onBoard: "See it on the board",
  terms: "Use technical terms (zugzwang, claimeven)",
  /** A sentence in the terms of experienced players, where they have shorter ones. */
  inTerms: (sentence: Sentence, names: readonly [string, string]): string | null => {
    const name = (player: 0 | 1): string => names[player];
    switch (sentence.key) {
      case "double_threat":
        return `${name(sentence.winner)} has a double threat in columns ${listed(sentence.columns)}; ${name(sentence.loser)} can block only one.`;
      case "every_move_opens":
        return `Zugzwang: every move that ${name(sentence.loser)} has left (${sentence.columns.length === 1 ? "column" : "columns"} ${listed(sentence.columns)}) lets ${name(sentence.winner)} connect four right above it.`;
      case "forced_moves":
        return `Forced moves: ${inOrder(sentence.moves)}.`;
      case "zugzwang": {
        const kind = { odd: "odd ", even: "even ", mixed: "" }[sentence.parity];
        const [threat, it] = sentence.cells.length === 1 ? [`the ${kind}threat`, "that cell"] : [`${kind}threats`, "these cells"];
        return `Zugzwang: ${name(sentence.winner)} has ${threat} at ${listed(sentence.cells.map(cell))}, never plays right below ${it}, and follows up elsewhere${coupled(sentence.couples)} until ${name(sentence.loser)} has to.`;
      }
      case "follow_up":
        return `Claimeven: ${name(sentence.winner)} follows up${coupled(sentence.couples)}, which gives ${name(sentence.winner)} four in a row from ${cell(sentence.from)} to ${cell(sentence.to)}.`;
      case "holds_by_follow_up":
        return `Claimeven: ${name(sentence.player)} follows up${coupled(sentence.couples)}, so ${name(sentence.opponent)} gets no four.`;
      case "no_four_left":
        return `${name(sentence.player)} has no four left.`;
      default:
        return null;
    }
  },
  say: (sentence: Sentence, names: readonly [string, string]): string => {
    const name = (player: 0 | 1): string => names[player];
    switch (sentence.key) {
      case "won":
        return `${name(sentence.winner)} has connected four.`;
      case "drawn":
        return "The board is full: a draw.";
      case "wins_in":
        return `${name(sentence.winner)} wins in ${plural(sentence.moves, "move")}.`;
      case "draw":
        return "With best play it is a draw.";
      case "best_play":
        return `Best play: ${inOrder(sentence.moves)}.`;
      case "wins_now":
        return `${name(sentence.winner)} wins now: column ${sentence.column} makes four in a row.`;
      case "double_threat":
        return `${name(sentence.winner)} can connect four in columns ${listed(sentence.columns)}, and ${name(sentence.loser)} can block only one.`;
      case "stacked_threat":
        return `${name(sentence.loser)} must block column ${sentence.column}, and then ${name(sentence.winner)} connects four right above.`;
      case "every_move_opens":
        return `Every move that ${name(sentence.loser)} has left (${sentence.columns.length === 1 ? "column" : "columns"} ${listed(sentence.columns)}) lets ${name(sentence.winner)} connect four right above it.`;
      case "threatens":
        return `${name(sentence.winner)} plays column ${sentence.column}.`;
      case "must_block":
        return `${name(sentence.loser)} must block column ${sentence.column}.`;
      case "forced_moves":
        return `${name(sentence.winner)} makes threats that ${name(sentence.loser)} must block: ${inOrder(sentence.moves)}.`;
      case "every_reply":
        return `Whatever ${name(sentence.loser)} plays, ${name(sentence.winner)} wins by force.`;
      case "every_reply_loses_now":
        return `Whatever ${name(sentence.loser)} plays, ${name(sentence.winner)} connects four.`;
      case "suppose":
        return `Suppose ${name(sentence.loser)} plays column ${sentence.column}.`;
      case "zugzwang": {
        const [fours, it, one] = sentence.cells.length === 1 ? ["four", "that cell", "it"] : ["fours", "these cells", "one of them"];
        return `${name(sentence.winner)} waits for the ${fours} at ${listed(sentence.cells.map(cell))}: ${name(sentence.winner)} never plays right below ${it} and replies right above every other disc${coupled(sentence.couples)}. In the end ${name(sentence.loser)} has to play right below ${one}.`;
      }
      case "follow_up":
        return `${name(sentence.winner)} replies right above every disc${coupled(sentence.couples)} and so gets four in a row from ${cell(sentence.from)} to ${cell(sentence.to)}.`;
      case "no_four_for":
        return `${name(sentence.player)} cannot connect four before that.`;
      case "too_late":
        return `Any four by ${name(sentence.player)} would come too late.`;
      case "numbers":
        return `${name(sentence.winner)} answers every move by the numbers on the board: the highest that can be played, but not right below a cell where ${name(sentence.loser)} would connect four. Fours, blocks and forced wins come first.`;
      case "nobody_can_connect":
        return "Nobody can connect four any more.";
      case "no_four_left":
        return `${name(sentence.player)} can no longer connect four anywhere.`;
      case "holds_by_follow_up":
        return `${name(sentence.player)} replies right above every disc${coupled(sentence.couples)}, so ${name(sentence.opponent)} never gets four in a row.`;
      case "cannot_win_by_calculation":
        return `Only calculation shows that ${name(sentence.player)} cannot win.`;
      case "calculation":
        return `This was calculated ${plural(sentence.moves, "move")} deep; no simpler reason is known.`;
      case "keeps_win":
        return `Column ${sentence.column} keeps the win.`;
      case "keeps_draw":
        return `Column ${sentence.column} keeps the draw.`;
      case "loses_slowest":
        return `Column ${sentence.column} loses, but no other move holds out longer.`;
      case "wins_slower":
        return `Column ${sentence.column} still wins, in ${plural(sentence.moves, "move")}; column ${sentence.better} wins in ${sentence.better_moves}.`;
      case "win_to_draw":
        return `Column ${sentence.column} gives away ${name(sentence.player)}'s win: now it is a draw.`;
      case "win_to_loss":
        return `Column ${sentence.column} turns ${name(sentence.player)}'s win into a loss.`;
      case "draw_to_loss":
        return `Column ${sentence.column} turns a draw into a loss for ${name(sentence.player)}.`;
      case "loses_sooner":
        return `Column ${sentence.column} loses sooner than column ${sentence.better}.`;
      case "opens":
        return `It lets ${name(sentence.opponent)} connect four right above, at ${cell(sentence.cell)}.`;
      case "leaves_four":
        return `It does not stop ${name(sentence.opponent)}, who connects four in column ${sentence.column}.`;
      case "could_connect":
        return `${name(sentence.player)} could have connected four in column ${sentence.column}.`;
      case "better_wins":
        return `Column ${sentence.column} keeps the win.`;
      case "better_draws":
        return `Column ${sentence.column} holds the draw.`;
      default:
        return "";
    }
  },
};
