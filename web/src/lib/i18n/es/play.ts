/** Textos de la página de la partida: reproducción, pistas, ofertas, sonido. */

import type { Texts } from "../en";
import { plural } from "../format";

const movesText = (n: number): string => plural(n, { one: "jugada", other: "jugadas" });

export const play: Texts["play"] = {
  playback: {
    label: "Reproducción",
    play: "Reproducir",
    pause: "Pausa",
    replay: "Reproducir otra vez",
    pace: "Velocidad",
    paces: { slow: "Lenta", normal: "Normal", fast: "Rápida", live: "En directo" },
    behind: (n) => `${movesText(n)} por detrás`,
  },

  sound: { mute: "Silenciar", unmute: "Activar el sonido" },

  areas: { left: "a la izquierda", middle: "en el centro", right: "a la derecha" },
  hintArea: (area) => `Busca una jugada ${area}.`,
  hintReason: (reason) => {
    switch (reason.because) {
      case "wins-now":
        return "Con esta jugada puedes ganar.";
      case "must-block":
        return "Tu rival está a punto de ganar. Tienes que bloquear.";
      case "only-move":
        return "Cualquier otra jugada pierde.";
      case "wins":
        return `Puedes forzar la victoria en ${movesText(reason.moves)}.`;
      case "draws":
        return "Con el mejor juego de ambos, es empate.";
      case "loses":
        return `Tu rival puede forzar la victoria. Esta jugada es la que más aguanta: ${movesText(reason.moves)}.`;
      case "opinion":
        return { better: "Una búsqueda rápida te da ventaja.", even: "Una búsqueda rápida ve la posición igualada.", worse: "Una búsqueda rápida da ventaja a tu rival." }[reason.side];
    }
  },
  hintColumn: (column) => `Juega en la columna ${column}.`,
  hintMore: { 1: "¿Por qué?", 2: "¿Qué columna?", 3: "Pista" },

  afterMove: (ply, moves, what) => `Jugada ${ply} de ${moves}: ${what}`,
  start: "Posición inicial.",

  offerSent: { draw: "Empate ofrecido. Esperando respuesta.", undo: "Has pedido deshacer. Esperando respuesta.", rematch: "Revancha ofrecida. Esperando respuesta." },
  offerDeclined: {
    draw: (name) => `${name} ha rechazado el empate.`,
    undo: (name) => `${name} no quiere deshacer la jugada.`,
    rematch: (name) => `${name} ha rechazado la revancha.`,
  },
  youDeclined: { draw: "Empate rechazado.", undo: "Petición rechazada.", rematch: "Revancha rechazada." },
  takebackAccepted: "Jugada deshecha de común acuerdo.",

  nameTitle: "¿Cómo te llamas?",
  nameSave: "Continuar",
};
