/** Texts in the browser's storage, which may be forbidden or full: then what is kept lasts as long as the page. */

export function readStored(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function store(key: string, text: string): void {
  try {
    localStorage.setItem(key, text);
  } catch {
    // The page goes on without it.
  }
}
