/** Texte der Partieseite: Wiedergabe, Tipps, Angebote, Ton. */

import type { Texts } from "../en";
import { plural } from "../format";

const movesText = (n: number): string => plural(n, { one: "Zug", other: "Züge" });
const inMoves = (n: number): string => plural(n, { one: "Zug", other: "Zügen" });

export const play: Texts["play"] = {
  playback: {
    label: "Wiedergabe",
    play: "Abspielen",
    pause: "Pause",
    replay: "Noch einmal abspielen",
    pace: "Tempo",
    paces: { slow: "Langsam", normal: "Normal", fast: "Schnell", live: "Live" },
    behind: (n) => `${movesText(n)} zurück`,
  },

  sound: { mute: "Ton ausschalten", unmute: "Ton einschalten" },

  areas: { left: "links", middle: "in der Mitte", right: "rechts" },
  hintArea: (area) => `Suche einen Zug ${area}.`,
  hintReason: (reason) => {
    switch (reason.because) {
      case "wins-now":
        return "Mit diesem Zug kannst du gewinnen.";
      case "must-block":
        return "Dein Gegner steht kurz vor dem Gewinn. Du musst ihn blockieren.";
      case "only-move":
        return "Jeder andere Zug verliert.";
      case "wins":
        return `Du kannst den Gewinn in ${inMoves(reason.moves)} erzwingen.`;
      case "draws":
        return "Bei bestem Spiel beider Seiten endet es unentschieden.";
      case "loses":
        return `Dein Gegner kann den Gewinn erzwingen. Dieser Zug hält am längsten durch: ${movesText(reason.moves)}.`;
      case "opinion":
        return { better: "Eine schnelle Suche sieht dich im Vorteil.", even: "Eine schnelle Suche sieht eine ausgeglichene Stellung.", worse: "Eine schnelle Suche sieht deinen Gegner im Vorteil." }[reason.side];
    }
  },
  hintColumn: (column) => `Spiele Spalte ${column}.`,
  hintMore: { 1: "Warum?", 2: "Welche Spalte?", 3: "Tipp" },

  afterMove: (ply, moves, what) => `Zug ${ply} von ${moves}: ${what}`,
  start: "Ausgangsstellung.",

  offerSent: { draw: "Remis angeboten. Warten auf Antwort.", undo: "Rücknahme angefragt. Warten auf Antwort.", rematch: "Revanche angeboten. Warten auf Antwort." },
  offerDeclined: {
    draw: (name) => `${name} hat das Remis abgelehnt.`,
    undo: (name) => `${name} hat die Rücknahme abgelehnt.`,
    rematch: (name) => `${name} hat die Revanche abgelehnt.`,
  },
  youDeclined: { draw: "Remis abgelehnt.", undo: "Rücknahme abgelehnt.", rematch: "Revanche abgelehnt." },
  takebackAccepted: "Rücknahme angenommen.",

  nameTitle: "Wie heißt du?",
  nameSave: "Weiter",
};
