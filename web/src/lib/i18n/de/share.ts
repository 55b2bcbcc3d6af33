/** Teilen einer Partie und das Brett für andere Seiten. */

import type { Texts } from "../en";

export const share: Texts["share"] = {
  title: "Teilen",
  copyLink: "Link kopieren",
  copyEmbed: "Einbettungscode kopieren",
  copied: "Kopiert",
  gif: "GIF-Animation",
  pgn: "PGN",
  moves: "Text",
  json: "JSON",
  list: "Diese Partie in der öffentlichen Liste zeigen",
  listBefore: "Bei Partien zwischen zwei Personen lässt sich das nur wählen, bevor die zweite beitritt.",
  listed: "Diese Partie steht jetzt in der öffentlichen Liste.",
  unlisted: "Diese Partie steht nicht mehr in der öffentlichen Liste.",
  listedJoin: "Diese Partie steht in der öffentlichen Liste: Jeder kann sie finden und zusehen.",
  open: "In Claimeven öffnen",
  embedTitle: "Vier-gewinnt-Partie",
  failed: (reason: string) => `Laden fehlgeschlagen: ${reason}`,
};
