/** Compartir una partida y el tablero para otras páginas. */

import type { Texts } from "../en";

export const share: Texts["share"] = {
  title: "Compartir",
  copyLink: "Copiar enlace",
  copyEmbed: "Copiar código para una página web",
  copied: "Copiado",
  gif: "Animación GIF",
  pgn: "PGN",
  moves: "Texto",
  json: "JSON",
  open: "Abrir en Claimeven",
  embedTitle: "Partida de conecta cuatro",
  failed: (reason: string) => `Error al cargar: ${reason}`,
};
