import { describe, expect, it } from "vitest";
import { agentText, fieldError, formParameters, hasNetwork, isChoosable, levelOf, parseAgent } from "./agent-text";
import { t } from "./samples";
import type { AgentKind, Parameter } from "../types";

const parameter = (changes: Partial<Parameter>): Parameter => ({
  name: "depth",
  about: "",
  kind: "integer",
  default: 4,
  min: 1,
  max: 128,
  choices: null,
  ...changes,
});
const alphabeta: AgentKind = {
  name: "alphabeta",
  about: "",
  parameters: [parameter({}), parameter({ name: "eval", kind: "choice", default: "galli", choices: ["galli", "nitk"] })],
};

describe("an agent's text", () => {
  it("contains what differs from the defaults", () => {
    expect(agentText(alphabeta, {})).toBe("alphabeta");
    expect(agentText(alphabeta, { depth: "4", eval: "galli" })).toBe("alphabeta");
    expect(agentText(alphabeta, { depth: " 8 ", eval: "nitk" })).toBe("alphabeta:depth=8,eval=nitk");
  });

  it("may name a network", () => {
    const zero = { name: "zero", about: "", parameters: [parameter({ name: "model", kind: "text", default: null }), parameter({ name: "sims", default: 100 })] };
    expect([hasNetwork(zero), hasNetwork(alphabeta)]).toEqual([true, false]);
    expect(formParameters(zero).map(({ name }) => name)).toEqual(["sims"]);
    expect(agentText(zero, { model: "abc" })).toBe("zero:model=abc");
    expect(agentText(zero, { model: "" })).toBe("zero");
  });

  it("ignores the fields of another agent", () => {
    expect(agentText(alphabeta, { sims: "100" })).toBe("alphabeta");
  });

  it("can be parsed", () => {
    expect(parseAgent("alphabeta:depth=8,eval=nitk")).toEqual({ name: "alphabeta", fields: { depth: "8", eval: "nitk" } });
    expect(parseAgent("random")).toEqual({ name: "random", fields: {} });
    expect(parseAgent("level:4")).toEqual({ name: "level", fields: { level: "4" } });
    expect(parseAgent('ugi:cmd="a, b",ms=5').fields).toEqual({ cmd: '"a, b"', ms: "5" });
  });

  it("contains the level", () => {
    expect(levelOf("level:10")).toBe(10);
    expect(levelOf("level:4,seed=7")).toBe(4);
    expect(levelOf("random")).toBeNull();
    expect(levelOf(null)).toBeNull();
  });

  it("has a readable form", () => {
    expect(t.agent("level:4")).toBe("Level 4");
    expect(t.agent("alphabeta:depth=8,seed=3")).toBe("Alpha-beta, depth 8");
    expect(t.agent("zero:sims=9,model=abc", (id) => `<${id}>`)).toBe("AlphaZero, network '<abc>', 9 simulations");
    expect(t.agent("something:new=1")).toBe("something, new: 1");
  });
});

describe("the form", () => {
  it("offers no commands and no levels", () => {
    expect(isChoosable(alphabeta)).toBe(true);
    expect(isChoosable({ ...alphabeta, name: "level" })).toBe(false);
    expect(isChoosable({ name: "ugi", about: "", parameters: [parameter({ name: "cmd", kind: "text" })] })).toBe(false);
  });

  it("says why a number is invalid", () => {
    const depth = parameter({});
    expect(fieldError(depth, "8")).toBeNull();
    expect(fieldError(depth, "")).toBeNull();
    expect(fieldError(depth, "0")).toEqual({ must: "min", limit: 1 });
    expect(fieldError(depth, "129")).toEqual({ must: "max", limit: 128 });
    expect(fieldError(depth, "2.5")).toEqual({ must: "whole" });
    expect(fieldError(depth, "deep")).toEqual({ must: "number" });
    expect(fieldError(parameter({ kind: "number" }), "2.5")).toBeNull();
  });
});
