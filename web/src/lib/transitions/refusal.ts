/** The server's error messages in the user's language. */

const patterns = new Map<string, RegExp>();

/** The translation of a message, or the message itself if it is not listed. */
export function refusalText(message: string, known: Record<string, string>): string {
  for (const [english, said] of Object.entries(known)) {
    const parts = patternOf(english).exec(message)?.groups;
    if (parts || message === english) return said.replace(/\{(\w+)\}/g, (hole, name: string) => parts?.[name] ?? hole);
  }
  return message;
}

function patternOf(english: string): RegExp {
  let pattern = patterns.get(english);
  if (!pattern) {
    const escaped = english.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+?)");
    patterns.set(english, (pattern = new RegExp(`^${escaped}$`)));
  }
  return pattern;
}
