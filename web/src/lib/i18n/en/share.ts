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
  list: "Show this game in everyone's list",
  listBefore: "With two people, this can only be chosen before the second one joins.",
  listed: "This game is now in everyone's list.",
  unlisted: "This game is no longer in everyone's list.",
  listedJoin: "This game is in everyone's list: anyone can find and watch it.",
  open: "Open in Claimeven",
  embedTitle: "Connect Four game",
  failed: (reason: string) => `Loading failed: ${reason}`,
};
