// Runs before the first paint, so that the chosen theme applies without a flash of the other one.
try {
  const settings = JSON.parse(localStorage.getItem("claimeven.settings") ?? "{}");
  if (settings.theme === "light" || settings.theme === "dark") {
    document.documentElement.dataset.theme = settings.theme;
  }
  if (typeof settings.palette === "string") {
    document.documentElement.dataset.palette = settings.palette;
  }
} catch {
  // Invalid settings: use the defaults. The page rewrites them later.
}
