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
  list: "Diese Partie in der Liste für alle zeigen",
  listBefore: "Zu zweit lässt sich das nur wählen, bevor die zweite Person beitritt.",
  listed: "Diese Partie steht jetzt in der Liste für alle.",
  unlisted: "Diese Partie steht nicht mehr in der Liste für alle.",
  listedJoin: "Diese Partie steht in der Liste für alle: Jeder kann sie finden und zusehen.",
  open: "In Claimeven öffnen",
  embedTitle: "Vier-gewinnt-Partie",
  failed: (reason: string) => `Laden fehlgeschlagen: ${reason}`,
};
