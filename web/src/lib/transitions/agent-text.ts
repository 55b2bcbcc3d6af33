/** Agent texts, `name:key=value,key=value`, and the forms to choose them. */

import type { AgentKind, Parameter } from "../types";

/** The values of a form's fields, by parameter. Untouched fields are absent. */
export type Fields = Record<string, string>;

export interface AgentText {
  name: string;
  fields: Fields;
}

/** Excludes levels, which have a separate form, and agents that run a command on the server. */
export function isChoosable(agent: AgentKind): boolean {
  return agent.name !== "level" && agent.name !== "human" && !agent.parameters.some(isCommand);
}

function isCommand(parameter: Parameter): boolean {
  return parameter.name === "cmd";
}

/** Parameters with a field in the form. Networks are chosen from a list instead. */
export function formParameters(agent: AgentKind): Parameter[] {
  return agent.parameters.filter((parameter) => parameter.kind !== "text");
}

/** Common parameters; the form has the others under "Advanced". */
export function isCommon({ name }: Parameter, agent: string): boolean {
  return name === "sims" || name === "ms" || (name === "depth" && agent !== "timed");
}

export function defaultText(parameter: Parameter): string {
  const { default: value } = parameter;
  if (value === null || value === undefined) return "";
  return parameter.kind === "flag" ? (value === true || value === "on" ? "on" : "off") : String(value);
}

/** Whether the agent uses a network, which may be one that was trained here. */
export function hasNetwork(agent: AgentKind): boolean {
  return agent.parameters.some((parameter) => parameter.name === "model");
}

/** The text of an agent with these fields; default values are left out. */
export function agentText(agent: AgentKind, fields: Fields): string {
  const parts = agent.parameters
    .map((parameter) => [parameter, (fields[parameter.name] ?? "").trim()] as const)
    .filter(([parameter, value]) => value !== "" && value !== defaultText(parameter))
    .map(([parameter, value]) => `${parameter.name}=${value}`);
  return parts.length > 0 ? `${agent.name}:${parts.join(",")}` : agent.name;
}

/** Why a field is invalid: below its minimum, above its maximum, or not a number. */
export type FieldError = { must: "number" } | { must: "whole" } | { must: "min" | "max"; limit: number };

export function fieldError(parameter: Parameter, text: string): FieldError | null {
  const trimmed = text.trim();
  if (trimmed === "" || (parameter.kind !== "integer" && parameter.kind !== "number")) return null;
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return { must: "number" };
  if (parameter.kind === "integer" && !Number.isInteger(value)) return { must: "whole" };
  if (parameter.min !== null && value < parameter.min) return { must: "min", limit: parameter.min };
  if (parameter.max !== null && value > parameter.max) return { must: "max", limit: parameter.max };
  return null;
}

/** Parses an agent text. Quoted values keep their commas. */
export function parseAgent(text: string): AgentText {
  const colon = text.indexOf(":");
  if (colon < 0) return { name: text, fields: {} };
  const fields: Fields = {};
  for (const part of text.slice(colon + 1).match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []) {
    const equals = part.indexOf("=");
    if (equals < 0) fields[text.slice(0, colon)] = part;
    else fields[part.slice(0, equals)] = part.slice(equals + 1);
  }
  return { name: text.slice(0, colon), fields };
}

/** The level of an agent text, or null for other agents. */
export function levelOf(text: string | null): number | null {
  const match = /^level:(?:level=)?(\d+)(?:,|$)/.exec(text ?? "");
  return match ? Number(match[1]) : null;
}
