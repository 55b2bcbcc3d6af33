/** Die Computerspieler: Namen, Parameter und Beschreibungen. */

import { levelOf, parseAgent } from "../../transitions/agent-text";
import type { Texts } from "../en";
import { plural, whole } from "../format";

const NAMES: Record<string, string> = {
  random: "Zufall",
  influence: "Einflusskarte",
  minimax: "Minimax",
  alphabeta: "Alpha-Beta",
  mtdf: "MTD(f)",
  timed: "Iterative Vertiefung",
  mcts: "Monte Carlo",
  zero: "AlphaZero",
  perfect: "Perfekt",
  proof: "Beweis",
};

const ABOUT: Record<string, string> = {
  random: "Spielt jede erlaubte Spalte mit gleicher Wahrscheinlichkeit.",
  influence: "Spielt nach einer Einflusskarte, ohne Suche.",
  minimax: "Durchsucht alle Zugfolgen bis zu einer festen Tiefe.",
  alphabeta: "Minimax ohne die Züge, die am Ergebnis nichts ändern können.",
  mtdf: "Findet den Minimax-Wert durch eine Reihe enger Suchen mit einer Transpositionstabelle.",
  timed: "Sucht immer tiefer, bis die Zeit abgelaufen ist.",
  mcts: "Monte-Carlo-Baumsuche mit zufälligen Partien.",
  zero: "Ein neuronales Netz, das durch Partien gegen sich selbst gelernt hat, mit Baumsuche.",
  perfect: "Spielt immer den schnellsten Gewinn, sonst das Unentschieden, sonst die langsamste Niederlage.",
  proof: "Spielt ohne Suche nach einem Beweis, dass auf 7×6 der erste Spieler gewinnt, auf 6×6 der zweite.",
};

const LEVELS = [
  "Für die erste Partie: mag die Mitte und übersieht vieles.",
  "Achtet auf deine Antwort, übersieht aber manchmal drei in einer Reihe.",
  "Verpasst keinen sofortigen Gewinn und blockiert die meisten deiner Gewinnzüge.",
  "Baut einfache Doppeldrohungen auf.",
  "Denkt vier Züge voraus, mit ein paar Ungenauigkeiten.",
  "Denkt sechs Züge voraus: ein guter Vereinsspieler.",
  "Weiß, wie jeder Zug ausgeht, lässt sich aber leicht ablenken.",
  "Ein Experte mit einer Schwäche für den zweitbesten Zug.",
  "Ein Meister, der ein- oder zweimal pro Partie einen Fehler macht.",
  "Perfekt: verschenkt nie einen Gewinn oder ein Unentschieden.",
];

const PARAMETERS: Record<string, string> = {
  depth: "Tiefe",
  eval: "Bewertung",
  ties: "Bei gleich guten Zügen",
  ms: "Zeit pro Zug (ms)",
  sims: "Simulationen",
  model: "Netz",
  c: "Erkundung",
  cpuct: "Erkundung",
  nodes: "Stellungen pro Zug",
  rule: "Auswahlregel",
  c1: "Gewicht der Unsicherheit",
  c2: "Gewicht der Zugvorhersage",
  fpu: "Abzug für neue Züge",
  batch: "Stapelgröße",
  temperature: "Temperatur",
  proofs: "Bewiesene Ergebnisse",
  every: "Genauer Wert jedes Zugs",
  table: "Tabellengröße (MB)",
  threads: "Threads",
  book: "Eröffnungsbuch",
  seed: "Startwert",
};

const PARAMETERS_ABOUT: Record<string, string> = {
  depth: "Wie viele Züge vorausgeschaut wird; die Züge beider Seiten zählen.",
  ties: "Welcher von mehreren gleich guten Zügen gespielt wird.",
  ms: "In Millisekunden.",
  sims: "Simulierte Partien pro Zug.",
  c: "Höhere Werte probieren mehr verschiedene Züge.",
  cpuct: "Höhere Werte probieren mehr verschiedene Züge.",
  nodes: "Untersucht höchstens so viele Stellungen.",
  rule: "Wie die Suche den nächsten Zug auswählt.",
  c1: "Gewicht des Konfidenzintervalls in UCB.",
  c2: "Gewicht der Zugvorhersage in UCB.",
  fpu: "Wie weit unter dem Wert der Stellung ein noch nicht probierter Zug bewertet wird.",
  batch: "Gemeinsam bewertete Stellungen. Mehr ist schneller und etwas schwächer.",
  temperature: "0 spielt immer den besten Zug; höhere Werte sind zufälliger.",
  proofs: "Erzwungene Gewinne und Verluste erkennen.",
  every: "Langsamer, zeigt aber den Wert jeder Spalte.",
  table: "Speicher für die Transpositionstabelle.",
  threads: "Prozessor-Threads pro Stellung.",
  book: "Das Eröffnungsbuch benutzen.",
  seed: "Derselbe Startwert ergibt dieselbe Partie. Leer lassen, um jedes Mal einen neuen zu verwenden.",
};

const CHOICES: Record<string, string> = {
  on: "An",
  off: "Aus",
  centre: "Der Mitte am nächsten",
  first: "Erste Spalte",
  last: "Letzte Spalte",
  random: "Zufällig",
  sawwan: "Sawwan",
  galli: "Galli",
  nitk: "NITK",
  bits: "Bits",
  runs: "Ketten",
  terminal: "Nur Ergebnisse",
  influence: "Einflusskarte",
};

const EVALUATIONS: Record<string, string> = {
  sawwan: "Bewertet Gruppen von vier Feldern, Dreier des Gegners besonders hoch.",
  galli: "Bewertet Gruppen von vier Feldern nach den Steinen darin, mit Bonus für die Mitte.",
  nitk: "Bewertet Gruppen von vier Feldern, verteidigt gegen Dreier und mag die Mitte.",
  bits: "Bewertet eigene Gruppen von vier Feldern minus die des Gegners, ohne Bonus für die Mitte.",
  runs: "Bewertet Ketten von Steinen neben leeren Feldern; jeder weitere Stein zählt hundertmal so viel.",
  terminal: "Bewertet nur beendete Partien; alles andere zählt 0.",
  influence: "Summiert die Einflusskarte beider Spieler.",
};

function part(key: string, value: string, network: (id: string) => string): string {
  switch (key) {
    case "depth":
      return `Tiefe ${value}`;
    case "sims":
      return value === "0" ? "ohne Suche" : plural(Number(value), { one: "Simulation", other: "Simulationen" });
    case "ms":
      return `${whole(Number(value))} ms pro Zug`;
    case "model": {
      const [id = value, iteration] = value.split("@");
      return `Netz „${network(id)}“${iteration ? ` #${iteration}` : ""}`;
    }
    default:
      return `${(PARAMETERS[key] ?? key).replace(/ \(.*/, "")}: ${CHOICES[value] ?? value}`;
  }
}

export const players: Texts["players"] = {
  level: (level) => `Stufe ${level}`,
  levelAbout: (level) => LEVELS[level - 1] ?? "",
  agent: (text, network = (id) => id) => {
    const level = levelOf(text);
    if (level !== null) return `Stufe ${level}`;
    const { name, fields } = parseAgent(text);
    const shown = Object.entries(fields).filter(([key]) => key !== "seed");
    shown.sort(([a], [b]) => Number(b === "model") - Number(a === "model"));
    return [NAMES[name] ?? name, ...shown.map(([key, value]) => part(key, value, network))].join(", ");
  },
  kind: (name) => NAMES[name] ?? name,
  about: (name) => ABOUT[name] ?? "",
  parameter: (name) => PARAMETERS[name] ?? name,
  parameterAbout: (name) => PARAMETERS_ABOUT[name] ?? "",
  choice: (value) => CHOICES[value] ?? value,
  evaluationAbout: (name) => EVALUATIONS[name] ?? "",
  fieldError: (error, text) => {
    switch (error.must) {
      case "number":
        return `„${text}“ ist keine Zahl.`;
      case "whole":
        return `„${text}“ ist keine ganze Zahl.`;
      case "min":
        return `Muss mindestens ${error.limit} sein.`;
      case "max":
        return `Darf höchstens ${error.limit} sein.`;
    }
  },
};
