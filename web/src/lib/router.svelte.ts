/** A small router: the URL is the state, and links are ordinary links. */

import { parseRoute, type Route } from "./transitions/route";

class Router {
  route: Route = $state.raw(parseRoute(location.pathname));
  /** The query string. */
  search = $state(location.search);

  start(): void {
    addEventListener("popstate", () => this.read());
    document.addEventListener("click", (event) => this.follow(event));
  }

  go(address: string, { replace = false } = {}): void {
    if (replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.read();
    scrollTo(0, 0);
  }

  private read(): void {
    this.route = parseRoute(location.pathname);
    this.search = location.search;
  }

  /** Handles plain clicks on links within the page; everything else is left to the browser. */
  private follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (link.pathname.startsWith("/api/")) return;
    if (link.hash && link.pathname === location.pathname) return;
    event.preventDefault();
    if (link.href !== location.href) this.go(link.pathname + link.search);
  }
}

export const router = new Router();
