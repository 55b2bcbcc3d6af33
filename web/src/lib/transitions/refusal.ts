/** A refusal of the server in the person's language. */

const patterns = new Map<string, RegExp>();

/** The message by the list of those that are known; as it is if it is none of them. */
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
