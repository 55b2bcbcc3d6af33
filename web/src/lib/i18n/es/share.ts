/** Compartir una partida y el tablero para otras páginas. */

import type { Texts } from "../en";

export const share: Texts["share"] = {
  title: "Compartir",
  copyLink: "Copiar enlace",
  copyEmbed: "Copiar código para insertar",
  copied: "Copiado",
  gif: "Animación GIF",
  pgn: "PGN",
  moves: "Texto",
  json: "JSON",
  list: "Mostrar esta partida en la lista pública",
  listBefore: "En una partida entre dos personas, solo puedes elegirlo antes de que se una la segunda.",
  listed: "Esta partida ya está en la lista pública.",
  unlisted: "Esta partida ya no está en la lista pública.",
  listedJoin: "Esta partida está en la lista pública: cualquiera puede encontrarla y verla.",
  open: "Abrir en Claimeven",
  embedTitle: "Partida de Conecta 4",
  failed: (reason: string) => `Error al cargar: ${reason}`,
};
