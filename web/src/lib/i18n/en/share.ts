/** Sharing a game, and the board that other pages can show. */

export const share = {
  title: "Share",
  copyLink: "Copy link",
  copyEmbed: "Copy code for a web page",
  copied: "Copied",
  gif: "GIF animation",
  pgn: "PGN",
  moves: "Text",
  json: "JSON",
  open: "Open in Claimeven",
  embedTitle: "Connect Four game",
  failed: (reason: string) => `Loading failed: ${reason}`,
};
