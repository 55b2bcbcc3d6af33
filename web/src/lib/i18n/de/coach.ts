/** Erklärungen in Worten: ein Text für jeden Satz des Trainers. */

import type { Texts } from "../en";
import { plural } from "../format";

const moves = (n: number): string => plural(n, { one: "Zug", other: "Zügen" });
const listed = (items: (string | number)[]): string => (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} und ${items.at(-1)}`);
const cell = ([column, row]: [number, number]): string => `Spalte ${column}, Zeile ${row}`;
const inOrder = (columns: number[]): string => columns.join("-");
const coupled = ({ columns, only_marked }: { columns: [number, number][]; only_marked: boolean }): string => {
  if (columns.length === 0) return "";
  return only_marked ? " (die nächsten Steine in markierten Spalten antworten aufeinander)" : ` (die nächsten Steine in den Spalten ${columns.map((couple) => couple.join(" und ")).join(", ")} antworten aufeinander)`;
};

export const coach: Texts["coach"] = {
  why: "Warum?",
  whyColumn: (column) => `Warum? Spalte ${column}`,
  whyPosition: "Die Stellung",
  close: "Erklärung schließen",
  thinking: "Suche nach einem Grund …",
  plan: "Schritt für Schritt",
  marks: "Auf dem Brett: Feldpaare, von denen jeder eines bekommt, schraffierte Felder, die der Gewinner meidet, und das entscheidende Feld mit einem Ring.",
  better: (column) => `Spalte ${column} zeigen`,
  turned: {
    win: (colour, ply, column) => `${colour} stand bis Zug ${ply}, Spalte ${column}, auf Gewinn.`,
    draw: (ply, column) => `Bis Zug ${ply}, Spalte ${column}, war die Partie ausgeglichen.`,
  },
  decided: (theme, winner, loser, cells) => {
    const places = listed(cells.map(cell));
    switch (theme) {
      case "win-now":
        return `${loser} hat vier in einer Reihe übersehen.`;
      case "must-block":
        return `Die Vier von ${winner} wurde nicht abgewehrt.`;
      case "opens-four":
        return `Damit wurde ${places} frei für die Vier von ${winner}.`;
      case "double-threat":
        return `Die Doppeldrohung von ${winner} hat entschieden.`;
      case "stacked-threats":
        return `Zwei Drohungen von ${winner} direkt übereinander haben entschieden.`;
      case "odd-threat":
      case "even-threat":
        if (cells.length === 0) return "";
        return cells.length === 1 ? `Die Drohung von ${winner} auf ${places} hat entschieden.` : `Die Drohungen von ${winner} auf ${places} haben entschieden.`;
      case "no-safe-move":
        return `Am Ende hatte ${loser} keinen sicheren Zug mehr.`;
      case "follow-up":
        return `Von da an konnte ${winner} direkt über jedem Zug antworten.`;
      default:
        return "";
    }
  },
  missed: (theme) => `Was übersehen wurde: ${theme}.`,
  themes: {
    double_threat: "Such nach zwei Drohungen auf einmal.",
    forced: "Such nach Drohungen, die abgewehrt werden müssen.",
    every_reply: "Such einen Zug, nach dem jede Antwort verliert.",
    every_move_opens: "Bald hat der Gegner keinen sicheren Zug mehr.",
    zugzwang: "Denk an das Endspiel: Wer muss direkt unter deine Drohung spielen?",
    follow_up: "Antworte direkt über den Steinen des Gegners, und du bekommst die Felder, die du brauchst.",
  },
  show: "Den Moment zeigen",
  onBoard: "Auf dem Brett ansehen",
  terms: "Fachbegriffe verwenden (Zugzwang, Claimeven)",
  inTerms: (sentence, names) => {
    const name = (player: 0 | 1): string => names[player];
    switch (sentence.key) {
      case "double_threat":
        return `Doppeldrohung: ${name(sentence.winner)} droht in den Spalten ${listed(sentence.columns)}; ${name(sentence.loser)} kann nur eine Drohung abwehren.`;
      case "every_move_opens":
        return `Zugzwang: Jeder Zug, der ${name(sentence.loser)} bleibt (${sentence.columns.length === 1 ? "Spalte" : "Spalten"} ${listed(sentence.columns)}), lässt ${name(sentence.winner)} direkt darüber gewinnen.`;
      case "forced_moves":
        return `Erzwungene Züge: ${inOrder(sentence.moves)}.`;
      case "zugzwang": {
        const kind = { odd: "ungerade ", even: "gerade ", mixed: "" }[sentence.parity];
        const threat = sentence.cells.length === 1 ? `die ${kind}Drohung` : `${kind}Drohungen`;
        return `Zugzwang: ${name(sentence.winner)} hat ${threat} auf ${listed(sentence.cells.map(cell))}, spielt nie direkt darunter und antwortet sonst direkt darüber${coupled(sentence.couples)}, bis ${name(sentence.loser)} es tun muss.`;
      }
      case "follow_up":
        return `Claimeven: ${name(sentence.winner)} antwortet direkt darüber${coupled(sentence.couples)} und bekommt vier in einer Reihe von ${cell(sentence.from)} bis ${cell(sentence.to)}.`;
      case "holds_by_follow_up":
        return `Claimeven: ${name(sentence.player)} antwortet direkt darüber${coupled(sentence.couples)}, und ${name(sentence.opponent)} bekommt keine Viererreihe.`;
      case "no_four_left":
        return `${name(sentence.player)} hat keine Viererreihe mehr.`;
      default:
        return null;
    }
  },
  say: (sentence, names) => {
    const name = (player: 0 | 1): string => names[player];
    switch (sentence.key) {
      case "won":
        return `${name(sentence.winner)} hat vier in einer Reihe.`;
      case "drawn":
        return "Das Brett ist voll: unentschieden.";
      case "wins_in":
        return `${name(sentence.winner)} gewinnt in ${moves(sentence.moves)}.`;
      case "draw":
        return "Bei bestem Spiel ist es unentschieden.";
      case "best_play":
        return `Bestes Spiel: ${inOrder(sentence.moves)}.`;
      case "wins_now":
        return `${name(sentence.winner)} gewinnt sofort: Spalte ${sentence.column} ergibt vier in einer Reihe.`;
      case "double_threat":
        return `${name(sentence.winner)} kann in den Spalten ${listed(sentence.columns)} gewinnen, und ${name(sentence.loser)} kann nur eine davon verhindern.`;
      case "stacked_threat":
        return `${name(sentence.loser)} muss Spalte ${sentence.column} besetzen, und dann gewinnt ${name(sentence.winner)} direkt darüber.`;
      case "every_move_opens":
        return `Jeder Zug, der ${name(sentence.loser)} bleibt (${sentence.columns.length === 1 ? "Spalte" : "Spalten"} ${listed(sentence.columns)}), lässt ${name(sentence.winner)} direkt darüber gewinnen.`;
      case "threatens":
        return `${name(sentence.winner)} spielt Spalte ${sentence.column}.`;
      case "must_block":
        return `${name(sentence.loser)} muss Spalte ${sentence.column} besetzen.`;
      case "forced_moves":
        return `${name(sentence.winner)} droht immer wieder, und ${name(sentence.loser)} muss jedes Mal abwehren: ${inOrder(sentence.moves)}.`;
      case "every_reply":
        return `Was auch immer ${name(sentence.loser)} spielt, ${name(sentence.winner)} erzwingt den Gewinn.`;
      case "every_reply_loses_now":
        return `Was auch immer ${name(sentence.loser)} spielt, ${name(sentence.winner)} bildet eine Viererreihe.`;
      case "suppose":
        return `Angenommen, ${name(sentence.loser)} spielt Spalte ${sentence.column}.`;
      case "zugzwang": {
        const [it, one] = sentence.cells.length === 1 ? ["darunter", "darunter"] : ["unter diese Felder", "unter eines davon"];
        return `${name(sentence.winner)} wartet auf ${listed(sentence.cells.map(cell))} für die Viererreihe, spielt nie direkt ${it} und antwortet auf jeden anderen Zug direkt darüber${coupled(sentence.couples)}. Am Ende muss ${name(sentence.loser)} direkt ${one} spielen.`;
      }
      case "follow_up":
        return `${name(sentence.winner)} antwortet auf jeden Zug direkt darüber${coupled(sentence.couples)} und bekommt so vier in einer Reihe von ${cell(sentence.from)} bis ${cell(sentence.to)}.`;
      case "no_four_for":
        return `${name(sentence.player)} bekommt nie vier in einer Reihe.`;
      case "too_late":
        return `Jede Viererreihe von ${name(sentence.player)} käme zu spät.`;
      case "numbers":
        return `${name(sentence.winner)} antwortet auf jeden Zug nach den Zahlen auf dem Brett: die höchste, die spielbar ist, aber nicht direkt unter ein Feld, auf dem ${name(sentence.loser)} gewinnen würde. Viererreihen, Abwehr und erzwungene Gewinne gehen vor.`;
      case "nobody_can_connect":
        return "Niemand kann mehr vier in eine Reihe bringen.";
      case "no_four_left":
        return `${name(sentence.player)} kann nirgends mehr vier in eine Reihe bringen.`;
      case "holds_by_follow_up":
        return `${name(sentence.player)} antwortet auf jeden Zug direkt darüber${coupled(sentence.couples)}, und so bekommt ${name(sentence.opponent)} nie vier in einer Reihe.`;
      case "cannot_win_by_calculation":
        return `Die Berechnung zeigt, dass ${name(sentence.player)} nicht gewinnen kann.`;
      case "calculation":
        return `Durch Berechnung gefunden, ${plural(sentence.moves, { one: "Zug", other: "Züge" })} tief: Einen einfacheren Grund gibt es noch nicht.`;
      case "keeps_win":
        return `Spalte ${sentence.column} hält den Gewinn.`;
      case "keeps_draw":
        return `Spalte ${sentence.column} hält das Unentschieden.`;
      case "loses_slowest":
        return `Spalte ${sentence.column} verliert, aber kein anderer Zug hält länger durch.`;
      case "wins_slower":
        return `Spalte ${sentence.column} gewinnt auch, in ${moves(sentence.moves)}; Spalte ${sentence.better} gewinnt in ${sentence.better_moves}.`;
      case "win_to_draw":
        return `Spalte ${sentence.column} verschenkt den Gewinn von ${name(sentence.player)}: Jetzt ist es unentschieden.`;
      case "win_to_loss":
        return `Spalte ${sentence.column} macht aus dem Gewinn von ${name(sentence.player)} eine Niederlage.`;
      case "draw_to_loss":
        return `Spalte ${sentence.column} macht für ${name(sentence.player)} aus dem Unentschieden eine Niederlage.`;
      case "loses_sooner":
        return `Spalte ${sentence.column} verliert schneller als Spalte ${sentence.better}.`;
      case "opens":
        return `Damit kann ${name(sentence.opponent)} direkt darüber gewinnen: ${cell(sentence.cell)}.`;
      case "leaves_four":
        return `Das hält ${name(sentence.opponent)} nicht auf: In Spalte ${sentence.column} entsteht die Viererreihe.`;
      case "could_connect":
        return `${name(sentence.player)} hätte in Spalte ${sentence.column} gewinnen können.`;
      case "better_wins":
        return `Spalte ${sentence.column} hält den Gewinn.`;
      case "better_draws":
        return `Spalte ${sentence.column} hält das Unentschieden.`;
      default:
        return "";
    }
  },
};
