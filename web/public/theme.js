// Runs before the first paint, so that a chosen theme does not flash in the other one's colours.
try {
  const settings = JSON.parse(localStorage.getItem("claimeven.settings") ?? "{}");
  if (settings.theme === "light" || settings.theme === "dark") {
    document.documentElement.dataset.theme = settings.theme;
  }
  if (typeof settings.palette === "string") {
    document.documentElement.dataset.palette = settings.palette;
  }
} catch {
  // Unreadable settings are the defaults; the page itself writes them anew.
}
