import { describe, expect, it } from "vitest";
import { de } from "../i18n/de";
import { en } from "../i18n/en";
import { es } from "../i18n/es";
import { refusalText } from "./refusal";

describe("error messages of the server", () => {
  it("are translated with their placeholders", () => {
    expect(refusalText("It is not your turn", de.refusals)).toBe("Du bist nicht am Zug");
    expect(refusalText("move 3, '9': not a column (expected 1 to 7)", de.refusals)).toBe("Zug 3, '9': keine Spalte (möglich: 1 bis 7)");
    expect(refusalText("move 3, '9': not a column (expected 1 to 7)", en.refusals)).toBe("Move 3, '9': not a column (expected 1 to 7)");
    expect(refusalText("line 2 has 8 cells, more than the board's 7 columns", es.refusals)).toBe("La línea 2 tiene 8 casillas, pero el tablero tiene 7 columnas");
  });

  it("are shown as they are if unknown", () => {
    expect(refusalText("Something new (really?)", de.refusals)).toBe("Something new (really?)");
  });

  it("fill in only what the message contains", () => {
    for (const texts of [en, de, es]) {
      for (const [english, said] of Object.entries(texts.refusals)) {
        const holes = (text: string): string[] => text.match(/\{\w+\}/g) ?? [];
        expect(holes(english)).toEqual(expect.arrayContaining(holes(said)));
      }
    }
  });
});
