import { describe, expect, it } from "vitest";
import { de } from "../i18n/de";
import { en } from "../i18n/en";
import { es } from "../i18n/es";
import { refusalText } from "./refusal";

describe("what the server refuses", () => {
  it("is said in the person's language, with what it is about", () => {
    expect(refusalText("It is not your turn", de.refusals)).toBe("Du bist nicht am Zug");
    expect(refusalText("move 3, '9': not a column (expected 1 to 7)", de.refusals)).toBe("Zug 3, '9': keine Spalte (möglich: 1 bis 7)");
    expect(refusalText("move 3, '9': not a column (expected 1 to 7)", en.refusals)).toBe("Move 3, '9': not a column (expected 1 to 7)");
    expect(refusalText("line 2 has 8 cells, more than the board's 7 columns", es.refusals)).toBe("La línea 2 tiene 8 casillas, pero el tablero tiene 7 columnas");
  });

  it("is said as it is where it is not known", () => {
    expect(refusalText("Something new (really?)", de.refusals)).toBe("Something new (really?)");
  });

  it("takes over only what the message has", () => {
    for (const texts of [en, de, es]) {
      for (const [english, said] of Object.entries(texts.refusals)) {
        const holes = (text: string): string[] => text.match(/\{\w+\}/g) ?? [];
        expect(holes(english)).toEqual(expect.arrayContaining(holes(said)));
      }
    }
  });
});
