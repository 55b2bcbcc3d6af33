/** Teilen einer Partie und das Brett für andere Seiten. */

import type { Texts } from "../en";

export const share: Texts["share"] = {
  title: "Teilen",
  copyLink: "Link kopieren",
  copyEmbed: "Code für eine Webseite kopieren",
  copied: "Kopiert",
  gif: "GIF-Animation",
  pgn: "PGN",
  moves: "Text",
  json: "JSON",
  open: "In Claimeven öffnen",
  embedTitle: "Vier-gewinnt-Partie",
  failed: (reason: string) => `Laden fehlgeschlagen: ${reason}`,
};
