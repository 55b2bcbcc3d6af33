/** Texte zum Lernen: Analyse, Auswertung, Aufgaben und Statistik. */

import type { Value } from "../../types";
import type { Certainty } from "../../types-study";
import type { Texts } from "../en";
import { percent, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other: string): string => counted(n, { one, other });
const within = (n: number): string => plural(n, "Zug", "Zügen");

const valueText = ({ kind, number }: Value): string => {
  switch (kind) {
    case "win":
      return `gewinnt in ${Math.ceil(number / 2)}`;
    case "loss":
      return `verliert in ${Math.floor(number / 2)}`;
    case "draw":
      return "unentschieden";
    case "lines":
      return number === 0 ? "unentschieden" : `${number > 0 ? "gewinnt" : "verliert"} mit ${plural(Math.abs(number), "Reihe", "Reihen")}`;
    case "expected":
      return percent(number, 1);
    case "points":
      return number > 0 ? `+${whole(number)}` : number < 0 ? `−${whole(-number)}` : "0";
  }
};

/** Das Ende eines Satzes, der mit dem Zug beginnt: „gewinnt in 3“, „hält unentschieden“. */
const does = ({ value, at_least, at_most, no_loss_within }: Certainty): string => {
  if (value) return value.kind === "draw" || (value.kind === "lines" && value.number === 0) ? "hält unentschieden" : valueText(value);
  if (at_least === 1) return "gewinnt";
  if (at_most === -1) return "verliert";
  if (at_least === 0) return at_most === 0 ? "hält unentschieden" : "hält mindestens unentschieden";
  const safe = no_loss_within > 0 ? `verliert nicht innerhalb von ${within(no_loss_within)}` : "";
  if (at_most === 0) return safe ? `hält höchstens unentschieden und ${safe}` : "hält höchstens unentschieden";
  return safe || "ist nicht gelöst";
};

export const study: Texts["study"] = {
  nav: {
    menu: "Weitere Seiten",
    analysis: "Analyse",
    puzzles: "Aufgaben",
    statistics: "Statistik",
    lab: "Labor",
    arena: "Arena",
    training: "Training",
    play: "Spielen",
    learn: "Lernen",
    research: "Forschen",
  },

  analysis: {
    title: "Analysebrett",
    value: valueText,
    verdict: {
      of: ({ value, at_least, at_most }, mover, other) => {
        if (value?.kind === "lines" && value.number !== 0) return `${value.number > 0 ? mover : other} gewinnt mit ${plural(Math.abs(value.number), "Reihe", "Reihen")}`;
        if (value?.kind === "win" || value?.kind === "loss") return `${value.kind === "win" ? mover : other} gewinnt in ${Math.ceil(value.number / 2)}`;
        if (at_least === 1) return `${mover} gewinnt`;
        if (at_most === -1) return `${other} gewinnt`;
        if (at_least === 0) return at_most === 0 ? "Unentschieden" : `Mindestens unentschieden für ${mover}`;
        return at_most === 0 ? `Höchstens unentschieden für ${mover}` : "Nicht gelöst";
      },
      unknown: "Nicht gelöst",
      over: (winner, ruleset, scores) => {
        const lines = ruleset === "lines" ? `, ${Math.max(...scores)} zu ${Math.min(...scores)}` : "";
        return winner === null ? `Die Partie ist unentschieden${lines}` : `${winner} hat gewonnen${lines}`;
      },
      loading: "Analyse läuft …",
    },
    looking: "Suche tiefer …",
    toMove: (colour) => `${colour} ist am Zug`,
    estimate: (column, depth) => `Spalte ${column} sieht am besten aus (Suchtiefe ${depth})`,
    noLossWithin: (colour, moves) => `Sicher: ${colour} verliert nicht innerhalb von ${within(moves)}.`,
    stillLooking: "Was unter den Spalten steht, ist sicher. Der Rest wird noch analysiert.",
    notExact: "Diese Stellung lässt sich nicht in wenigen Sekunden lösen. Was unter den Spalten steht, ist sicher („hält 6“ heißt: verliert nicht innerhalb von 6 Zügen); was am besten aussieht, ist nur eine Einschätzung.",
    expected: "Erwarteter Verlauf (Einschätzung)",
    looksBest: (depth) => `sieht am besten aus (Suchtiefe ${depth})`,
    book: "Eröffnungsbuch",
    bookAbout: "Das Buch enthält die genauen Werte aller Stellungen mit bis zu 12 Steinen.",
    exact: "Genau",
    bound: "Nicht gelöst",
    values: "Wert jeder Spalte",
    column: (column, text) => `Spalte ${column}: ${text}`,
    full: "voll",
    best: "beste",
    certain: ({ value, at_least, at_most, no_loss_within }) => {
      if (value) return valueText(value);
      if (at_least === 1) return "gewinnt";
      if (at_most === -1) return "verliert";
      if (at_least === 0) return at_most === 0 ? "unentschieden" : "mindestens unentschieden";
      const safe = no_loss_within > 0 ? `verliert nicht innerhalb von ${within(no_loss_within)}` : "";
      return [at_most === 0 ? "höchstens unentschieden" : "", safe].filter(Boolean).join(", ") || "nicht gelöst";
    },
    short: ({ value, at_least, at_most, no_loss_within }) => {
      if (value) return value.kind === "draw" ? "remis" : valueText(value).replace("gewinnt", "siegt");
      if (at_least === 1) return "siegt";
      if (at_most === -1) return "verliert";
      if (at_least === 0) return at_most === 0 ? "remis" : "remis oder Gewinn";
      return at_most === 0 ? "remis oder Verlust" : no_loss_within > 0 ? `hält ${no_loss_within}` : "–";
    },
    does,
    bar: (text) => `Bewertung: ${text}`,
    line: "Bestes Spiel",
    moved: (colour, column) => `${colour}: Spalte ${column}`,
    playTo: (column, colour) => `${colour} spielt Spalte ${column}: bis hierher spielen`,

    moves: "Züge",
    noMoves: "Wirf Steine ein, um Züge auszuprobieren. Gehe zurück und spiele eine andere Spalte, um eine Variante anzulegen.",
    setUpStart: "Beginnt mit einer eigenen Stellung",
    deleteLine: "Ab hier löschen",
    promote: "Zur Hauptvariante machen",
    rename: "Variante benennen",
    nameOf: "Name der Variante",
    nameFor: (column) => `Name der Variante, die mit Spalte ${column} beginnt`,
    done: "Fertig",
    variation: "Variante",

    threats: "Drohungen",
    showThreats: "Drohungen auf dem Brett zeigen",
    noThreats: "Noch keine Drohungen.",
    threat: (row, column, odd, open, lasting) => `Spalte ${column}, Zeile ${row} (${odd ? "ungerade" : "gerade"}${lasting ? ", bleibend" : ""})${open ? ", jetzt spielbar" : ""}`,
    odd: "ungerade",
    even: "gerade",
    why: "Warum gerade und ungerade?",
    whyText: [
      "Eine Drohung ist ein leeres Feld, das eine Gewinnreihe vervollständigen würde. Fällt der nächste Stein dorthin, gewinnt er sofort. Die meisten Drohungen sind noch nicht erreichbar: Das Feld darunter ist leer, und wer dort spielt, lässt den anderen die Drohung nutzen oder blockieren.",
      "Gegen Ende will niemand unter einer Drohung spielen, und die anderen Spalten füllen sich. Auf einem Brett mit gerader Zeilenzahl bekommt dann der Spieler, der begonnen hat, die Felder der ungeraden Zeilen und der andere die der geraden.",
      "Deshalb ist eine ungerade Drohung für den ersten Spieler am meisten wert und eine gerade für den zweiten. Ein gepunkteter Umriss kennzeichnet eine solche bleibende Drohung.",
    ],

    opinions: "Einschätzungen",
    opinionsAbout: "Was Computerspieler, die den Solver nicht benutzen, von dieser Stellung halten. Ihre Zahlen sind Schätzungen, außer bei erzwungenen Gewinnen und Niederlagen.",
    opinionAgents: { "alphabeta:depth=8,every=on": "Alpha-Beta, Tiefe 8", "mcts:sims=20000": "Monte Carlo, 20.000 Simulationen", "zero:sims=0": "Netz ohne Suche", "zero:sims=200": "AlphaZero, 200 Simulationen" },
    other: "Anderer Computerspieler …",
    ask: "Fragen",
    thinking: "denkt nach …",
    plays: (column, value) => `spielt Spalte ${column}, ${value}`,
    bestMove: "bester Zug",
    inaccurate: "ungenau",
    shares: { mcts: "Anteil der Simulationen", zero: "Policy", other: "Werte" },
    work: (nodes, ms) => `${nodes} Knoten, ${ms}`,

    setUp: "Aufbauen",
    setUpTitle: "Stellung aufbauen",
    place: "Stein",
    erase: "Entfernen",
    setUpHint: "Oder setze die Steine von Hand: Klicke auf eine Spalte, um einen Stein einzuwerfen oder den obersten zu entfernen.",
    counts: (a, b, x, o) => `${a} ${x}, ${b} ${o}.`,
    uneven: (a, b) => `${a} beginnt und braucht deshalb gleich viele Steine wie ${b} oder einen mehr.`,
    use: "Diese Stellung analysieren",
    clear: "Brett leeren",
    cancel: "Abbrechen",
    paste: "Stellung einfügen",
    pasteAbout: "Züge (4453 oder 4, 4, 5, 3), der Link eines anderen Solvers (…?pos=4453), ein mit . X O gezeichnetes Brett oder ein Kaggle-Brett.",
    read: "Stellung laden",
    board: "Brett",
    ruleset: "Regeln",
    flip: "Brett drehen",
    start: "Neue Analyse",
    share: "Kopieren und teilen",
    copyMoves: "Züge",
    copyPicture: "Brett als Text",
    copyLink: "Link",
    saveSvg: "Bild (SVG)",
    savePng: "Bild (PNG)",
    copied: "Kopiert",
    copyFailed: "Der Browser erlaubt das Kopieren nicht. Markiere und kopiere den Text hier:",
  },

  review: {
    title: "Auswertung",
    button: "Auswerten",
    of: (names) => `Auswertung: ${names}`,
    loading: "Jeder Zug wird analysiert …",
    unfinished: "Diese Partie ist noch nicht beendet. Komm zurück, wenn sie fertig ist.",
    back: "Zurück zur Partie",
    analyse: "In der Analyse öffnen",
    graph: "Bewertung nach jedem Zug",
    graphAbout: (a, b) => `Über der Mittellinie steht ${a} auf Gewinn, darunter ${b}; je näher am Rand, desto früher ist der Gewinn. Klicke auf einen Zug oder benutze die Pfeiltasten.`,
    after: (ply, text) => `Nach Zug ${ply}: ${text}`,
    accuracy: "Genauigkeit",
    noAccuracy: "–",
    accuracyAbout: "Kein Zug konnte das Ergebnis ändern",
    formula:
      "Die Genauigkeit ist der Anteil der Punkte, den ein Spieler behalten hat. Ein Gewinn zählt zwei Punkte, ein Unentschieden einen. Jeder Zug kann höchstens den Unterschied zwischen dem besten und dem schlechtesten Zug seiner Stellung kosten; Genauigkeit = 1 − verlorene Punkte ÷ maximal mögliche Verlustpunkte. Langsamere Gewinne und schnellere Niederlagen kosten nichts.",
    formulaTitle: "So wird die Genauigkeit berechnet",
    counts: { blunders: "Grobe Fehler", mistakes: "Fehler", only_moves: "Einzige Züge", slower_wins: "Langsamere Gewinne", faster_losses: "Schnellere Niederlagen" },
    countsAbout: {
      blunders: "Aus einem Gewinn oder Unentschieden wurde eine Niederlage",
      mistakes: "Aus einem Gewinn wurde ein Unentschieden",
      only_moves: "Der einzige Zug, der das Ergebnis hielt",
      slower_wins: "Gewinnt noch, aber später",
      faster_losses: "Verliert ohnehin, aber früher",
    },
    linesCounts: { slower_wins: "Kleinere Gewinne", faster_losses: "Größere Niederlagen" },
    linesCountsAbout: { slower_wins: "Gewinnt noch, aber mit weniger Reihen", faster_losses: "Verliert ohnehin, aber mit mehr Reihen" },
    judgements: { best: "Bester Zug", good: "Gut", only: "Einziger Zug", "slower-win": "Langsamerer Gewinn", "faster-loss": "Schnellere Niederlage", mistake: "Fehler", blunder: "Grober Fehler", unknown: "Nicht gelöst" },
    linesJudgements: { "slower-win": "Kleinerer Gewinn", "faster-loss": "Größere Niederlage" },
    judged: (judgement, value) => (value ? `${judgement}: ${value}` : judgement),
    better: (column, choice) => `Spalte ${column} ${does(choice)}.`,
    estimate: (column, depth) => `Spalte ${column} sah am besten aus (Suchtiefe ${depth}).`,
    judgedMoves: "Beurteilte Züge",
    judgedOf: (judged, moves) => `${judged} von ${moves}`,
    soFar: (judged, moves) =>
      `${judged} von ${moves} Zügen sind bisher beurteilt. Der Rest dauert noch etwas.`,
    incomplete: (judged, moves) =>
      `${judged} von ${within(moves)} konnten beurteilt werden (${percent(judged / Math.max(1, moves))}). Die anderen kommen auf diesem Brett zu früh in der Partie, um gelöst zu werden; für sie zeigt die Auswertung, welchen Zug eine Suche bevorzugt.`,
    start: "Beginn der Partie",
    given: "Eröffnung",

    learn: (own) => (own ? "Lerne aus deinen Fehlern" : "Lerne aus den Fehlern"),
    learnAbout: (n, own) => (own ? `Du hast ${plural(n, "besseren Zug", "bessere Züge")} verpasst. Finde ${n === 1 ? "ihn" : "sie"}.` : `${plural(n, "besserer Zug wurde", "bessere Züge wurden")} verpasst. Finde ${n === 1 ? "ihn" : "sie"}.`),
    noErrors: "Keine Fehler, aus denen man lernen könnte. Gut gespielt!",
    noErrorsKnown: (judged, moves) => (judged === 0 ? "Kein Zug konnte beurteilt werden, daher sind keine Fehler bekannt." : `Keine Fehler unter den ${judged} von ${moves} Zügen, die beurteilt werden konnten.`),
    whose: "Wessen Fehler",
    both: "Beide Spieler",
    errorOf: (n, of) => `${n} von ${of}`,
    find: { win: (colour) => `${colour} kann hier gewinnen. Finde den Zug.`, draw: (colour) => `${colour} kann hier ein Unentschieden halten. Finde den Zug.` },
    played: (column, choice) => `In der Partie: Spalte ${column}. Dieser Zug ${does(choice)}.`,
    right: (column, choice) => `Richtig! Spalte ${column} ${does(choice)}.`,
    rightSlower: (column, choice, best) => `Richtig! Spalte ${column} ${does(choice)} (der beste Zug ${does(best)}).`,
    wrong: (column, choice) => `Spalte ${column} ${does(choice)}. Versuche es noch einmal.`,
    unsure: (column) => `Spalte ${column} ist nicht gelöst und könnte genauso gut sein. Versuche eine andere.`,
    hint: "Tipp",
    hintIn: (choice) => `Der beste Zug ${does(choice)}.`,
    hintSide: (side) => ({ left: "Sieh dir die linke Seite an.", middle: "Sieh dir die Mitte an.", right: "Sieh dir die rechte Seite an." })[side],
    solution: "Zug zeigen",
    solutionIs: (column, choice) => `Spalte ${column} ${does(choice)}.`,
    refutation: "Warum war das falsch?",
    refutationTitle: (column) => `Warum Spalte ${column} falsch war`,
    continuation: "Zeigen, wie es weitergeht",
    continuationTitle: (column) => `Bestes Spiel nach Spalte ${column}`,
    next: "Nächste Stellung",
    skip: "Überspringen",
    done: "Zurück zur Auswertung",
    again: "Zurück zur Stellung",
    yourMove: (colour) => `Dein Zug: ${colour} spielt.`,
  },

  puzzles: {
    title: "Aufgaben",
    daily: "Aufgabe des Tages",
    grade: "Schwierigkeit",
    grades: ["", "Sehr leicht", "Leicht", "Mittel", "Schwer", "Experte"],
    all: "Alle",
    theme: "Thema",
    allThemes: "Alle Themen",
    themes: { "win-now": "Sofort gewinnen", "must-block": "Blockieren", "double-threat": "Doppeldrohung", "stacked-threats": "Gestapelte Drohungen", "forcing-moves": "Zwingende Züge", "odd-threat": "Zugzwang: ungerade Drohung", "even-threat": "Zugzwang: gerade Drohung", "no-safe-move": "Kein sicherer Zug mehr", "follow-up": "Immer darüber antworten", "long-plan": "Lange Pläne", "opens-four": "Unter eine Drohung gespielt", "save-the-draw": "Unentschieden retten" },
    themesAbout: {
      "win-now": "Du kannst mit diesem Stein vier in eine Reihe bringen.",
      "must-block": "Der Gegner steht kurz davor, vier in eine Reihe zu bringen.",
      "double-threat": "Schaffe zwei Drohungen auf einmal: Nur eine kann blockiert werden.",
      "stacked-threats": "Schaffe eine Drohung direkt über einer anderen.",
      "forcing-moves": "Jeder deiner Züge ist eine Drohung, die blockiert werden muss.",
      "odd-threat": "Nutze eine Drohung in einer ungeraden Zeile: Dem Gegner gehen die sicheren Züge aus.",
      "even-threat": "Nutze eine Drohung in einer geraden Zeile: Dem Gegner gehen die sicheren Züge aus.",
      "no-safe-move": "Nach jedem Zug des Gegners kannst du direkt darüber vier in eine Reihe bringen.",
      "follow-up": "Antworte direkt über den Steinen des Gegners, und du bekommst die Felder, die du brauchst.",
      "long-plan": "Der Gewinn braucht viele Züge. Such nach bleibenden Drohungen und zähl ab.",
      "opens-four": "Ein Stein direkt unter einem Feld, auf dem der Gegner vier in eine Reihe bringen würde.",
      "save-the-draw": "Jeder andere Zug verliert.",
    },
    next: "Nächste Aufgabe",
    skip: "Überspringen",
    previous: "Vorige Aufgabe",
    goal: { win: (colour, discs) => (discs === 1 ? `${colour} zieht und gewinnt` : `${colour} zieht und gewinnt in ${discs}`), draw: (colour) => `${colour} zieht und hält unentschieden` },
    only: "Nur ein Zug funktioniert. Spiele bis zum Gewinn weiter.",
    onlyDraw: "Nur ein Zug funktioniert.",
    solved: (n, of) => `${n} von ${of} gelöst`,
    right: "Richtig! Weiter: Der Gegner verteidigt sich so gut wie möglich.",
    won: "Gelöst! Vier in einer Reihe.",
    held: "Gelöst! Das Unentschieden ist sicher.",
    rightSlower: (choice) => `Gewinnt noch, aber langsamer: ${does(choice)}.`,
    wrong: (column, choice) => `Spalte ${column} ${does(choice)}. Versuche es noch einmal.`,
    progress: (done, of) => `Zug ${done} von ${of}`,
    reset: "Fortschritt zurücksetzen",
    confirmReset: "Allen Fortschritt zurücksetzen?",
    analyse: "In der Analyse öffnen",
    alreadySolved: "Du hast diese Aufgabe gelöst.",
    streak: (n) => `${plural(n, "Aufgabe", "Aufgaben")} in Folge auf Anhieb gelöst`,
    empty: "Keine Aufgaben dieser Art.",
    rating: (rating) => `Wertung ${rating}`,
    ratingAbout: (solved, tried) => (tried === 0 ? "Noch niemand hat sie versucht: Die Wertung beruht auf der Schwierigkeit." : `Von ${solved} von ${tried} auf Anhieb gelöst.`),
  },

  statistics: {
    title: "Statistik",
    mine: "Deine Partien",
    everyone: "Alle Partien",
    whose: "Wessen Partien",
    none: "Noch keine beendeten Partien",
    noneAbout: "Hier werden beendete Partien gezählt.",
    games: (n) => plural(n, "Partie", "Partien"),
    won: "Gewonnen",
    drawn: "Unentschieden",
    lost: "Verloren",
    score: "Punktanteil",
    interval: (low, high) => `${low} bis ${high}`,
    intervalAbout: "Der Punktanteil zählt ein Unentschieden halb. Der Balken ist das 95-%-Wilson-Intervall; bei wenigen Partien ist es breit.",
    accuracy: "Genauigkeit",
    accuracyAbout: "Die Genauigkeit ist der Mittelwert aller ausgewerteten Partien.",
    length: "Züge pro Partie",
    time: "Zeit pro Zug",
    groups: { opponent: "Nach Gegner", colour: "Danach, wer beginnt", opening: "Nach Eröffnung", size: "Nach Brett", ruleset: "Nach Regeln", player: "Nach Spieler" },
    first: "Als Erster am Zug",
    second: "Als Zweiter am Zug",
    people: "Menschen",
    reviewed: (n) => `${plural(n, "Partie", "Partien")} ausgewertet`,
    gamesHead: "Partien",
    moves: "Züge",
    mineAbout: "Partien zu zweit an einem Gerät, in denen du beide Seiten spielst, werden nicht gezählt.",
    progress: "Fortschritt",
    progressAbout: "Punktanteil der jeweils letzten zehn Partien und Genauigkeit, wo sie bekannt ist.",
    progressScore: "Punktanteil, letzte 10 Partien",
    progressAccuracy: "Genauigkeit, letzte 10 Partien",
    costs: "Was dich Partien kostet",
    costsAbout: (games, of) => `Die Themen der Fehler, die die Partie entschieden haben, in ${whole(games)} deiner letzten ${plural(of, "Partie", "Partien")}.`,
    costsRecent: (n) => `${n} der letzten 20`,
    costsNone: "Keine deiner ausgewerteten Partien wurde durch einen Fehler von dir entschieden.",
    costsLesson: "Lektion",
    costsPuzzles: "Aufgaben",
    lengths: "Wie lange Partien dauern",
    explorer: "Eröffnungs-Explorer",
    explorerAbout: "Die Züge, die aus einer Stellung gespielt wurden: wie oft, mit welchem Ergebnis und was sie genau wert sind.",
    explorerEmpty: "Von hier aus ging keine Partie weiter.",
    column: "Spalte",
    played: "Gespielt",
    exact: "Wert",
    firstWins: (colour) => `${colour} gewann`,
    unit: "Züge",
    more: "Alle zeigen",
    firstMoverScore: "Punktanteil als Erster",
  },
};
