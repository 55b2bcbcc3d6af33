/** Sharing a game, and the embedded board. */

export const share = {
  title: "Share",
  copyLink: "Copy link",
  copyEmbed: "Copy embed code",
  copied: "Copied",
  gif: "GIF animation",
  pgn: "PGN",
  moves: "Text",
  json: "JSON",
  list: "Show this game in the public list",
  listBefore: "In a game between two people, you can only choose this before the second player joins.",
  listed: "This game is now in the public list.",
  unlisted: "This game is no longer in the public list.",
  listedJoin: "This game is in the public list: anyone can find and watch it.",
  open: "Open in Claimeven",
  embedTitle: "Connect Four game",
  failed: (reason: string) => `Loading failed: ${reason}`,
};
