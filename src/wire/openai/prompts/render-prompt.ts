/** Puts the values of variables into the messages of a stored prompt. */

import { invalidRequest } from "../../../kernel/faults.ts";
import { PLACEHOLDER, type PromptContent, type PromptReference, type PromptVariable } from "./prompt-content.ts";

type Part = Readonly<Record<string, unknown>>;

/** Message as the Responses API has it. */
export interface RenderedMessage {
  type: "message";
  role: "developer" | "system" | "user" | "assistant";
  content: string | readonly Part[];
}

/** In all repetitions of values: more than any context window holds. */
const MAX_REPEATED_CHARACTERS = 8_000_000;

/** Returns the variables, those that are not declared included. */
function variablesOf({ messages, variables }: Pick<PromptContent, "messages" | "variables">): PromptVariable[] {
  const declared = new Map(variables.map((variable) => [variable.name, variable]));
  for (const { content } of messages) {
    for (const [, name = ""] of content.matchAll(PLACEHOLDER)) {
      if (!declared.has(name)) declared.set(name, { name, type: "text" });
    }
  }
  return [...declared.values()];
}

/** Throws a Fault for a version that no request could render. */
export function checkContent(content: PromptContent): void {
  const names = new Set<string>();
  for (const [index, { name, type, options, default: value }] of content.variables.entries()) {
    const path = `content.variables[${index}]`;
    const invalid = (field: string, message: string) =>
      invalidRequest(`Invalid value for '${path}.${field}': ${message}`, `${path}.${field}`, "invalid_value");
    if (names.has(name)) throw invalid("name", `another variable is called ${name}.`);
    names.add(name);
    if ((type === "enum") !== (options !== undefined)) {
      throw invalid("options", "the type enum needs it, and no other type has it.");
    }
    if (value === undefined) continue;
    if (type === "image" || type === "file") throw invalid("default", `the type ${type} has no default.`);
    const problem = problemOf({ name, type, options }, value);
    if (problem !== undefined) throw invalid("default", problem);
  }
  const used = new Set(
    content.messages.flatMap((each) => [...each.content.matchAll(PLACEHOLDER)].map(([, name]) => name)),
  );
  const unused = content.variables.findIndex(({ name }) => !used.has(name));
  if (unused === -1) return;
  const name = content.variables[unused]?.name;
  const message = `The variable '${name}' is in no message: write {{${name}}} where its value belongs, or remove it.`;
  throw invalidRequest(message, `content.variables[${unused}]`, "invalid_value");
}

/**
 * Renders the messages. Values are inserted as they are; placeholders in them stay. Throws a Fault for missing and
 * invalid ones, and for those that the messages repeat too often for their length.
 */
export function renderPrompt(content: PromptContent, sent: PromptReference["variables"]): RenderedMessage[] {
  const values = sent ?? {};
  const variables = new Map(variablesOf(content).map((variable) => [variable.name, variable]));
  for (const name of Object.keys(values)) {
    if (variables.has(name)) continue;
    const names = [...variables.keys()].join(", ") || "none";
    throw invalidRequest(
      `The prompt has no variable '${name.slice(0, 64)}'. Its variables: ${names}.`,
      `prompt.variables.${name.slice(0, 64)}`,
      "invalid_value",
    );
  }
  const parts = new Map([...variables].map(([name, variable]) => [name, toPart(variable, values[name])]));
  checkRepetitions(content, parts);
  return content.messages.map(({ role, content: template }) => ({
    type: "message",
    role,
    content: fill(role, template, parts),
  }));
}

/** Returns the characters of all texts. */
export function charactersOf(messages: readonly RenderedMessage[]): number {
  const texts = messages.flatMap(({ content }) =>
    typeof content === "string" ? content : content.map(({ text }) => (typeof text === "string" ? text : "")),
  );
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** Throws a Fault for values that a request of a few kilobytes would repeat to gigabytes. */
function checkRepetitions({ messages }: PromptContent, values: ReadonlyMap<string, string | Part>): void {
  const used = new Set<string>();
  const lengths = new Map(
    [...values].map(([name, value]) => [name, (typeof value === "string" ? value : JSON.stringify(value)).length]),
  );
  let repeated = 0;
  for (const { content } of messages) {
    for (const [, name = ""] of content.matchAll(PLACEHOLDER)) {
      if (used.has(name)) repeated += lengths.get(name) ?? 0;
      used.add(name);
    }
  }
  if (repeated <= MAX_REPEATED_CHARACTERS) return;
  const message = `The prompt repeats the values of its variables, which then have ${repeated} characters more; the limit is ${MAX_REPEATED_CHARACTERS}. Send shorter values.`;
  throw invalidRequest(message, "prompt.variables", "invalid_value");
}

function fill(
  role: RenderedMessage["role"],
  template: string,
  values: ReadonlyMap<string, string | Part>,
): string | readonly Part[] {
  const parts: (string | Part)[] = [];
  let end = 0;
  for (const { 0: text, 1: name = "", index } of template.matchAll(PLACEHOLDER)) {
    parts.push(template.slice(end, index), values.get(name) ?? "");
    end = index + text.length;
  }
  parts.push(template.slice(end));
  if (parts.every((part) => typeof part === "string")) return parts.join("");
  const texts: Part[] = [];
  for (const part of parts) {
    const last = texts.at(-1);
    if (typeof part !== "string") texts.push(part);
    else if (part !== "" && last !== undefined && typeof last.text === "string") {
      texts[texts.length - 1] = { ...last, text: last.text + part };
    } else if (part !== "") texts.push({ type: role === "assistant" ? "output_text" : "input_text", text: part });
  }
  return texts;
}

/** Throws a Fault that names the variable. */
function toPart(variable: PromptVariable, sent: unknown): string | Part {
  const { name, type } = variable;
  const param = `prompt.variables.${name}`;
  const value = sent ?? variable.default;
  if (value === undefined) {
    const message = `The variable '${name}' of the prompt is missing. Send it in 'prompt.variables'.`;
    throw invalidRequest(message, param, "missing_required_parameter");
  }
  const kind = typeof value === "object" ? (value as Part).type : undefined;
  if (type === "image" || type === "file") {
    if (kind === `input_${type}`) return value as Part;
    if (type === "image" && typeof value === "string") return { type: "input_image", image_url: value };
    throw invalidRequest(`'${param}' must be a part of the type input_${type}.`, param, "invalid_type");
  }
  const plain = kind === "input_text" ? (value as Part).text : value;
  const problem = problemOf(variable, plain);
  if (problem !== undefined) throw invalidRequest(`Invalid value for '${param}': ${problem}`, param, "invalid_value");
  return typeof plain === "string" ? plain : JSON.stringify(plain);
}

function problemOf({ type, options = [] }: Pick<PromptVariable, "name" | "type" | "options">, value: unknown) {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  switch (type) {
    case "text":
      return typeof value === "object" ? "it must be a text." : undefined;
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? undefined : "it must be a number.";
    case "boolean":
      return text === "true" || text === "false" ? undefined : "it must be true or false.";
    case "enum":
      return options.includes(text) ? undefined : `it must be one of ${options.join(", ")}.`;
    default:
      return typeof value !== "string" || isJson(value) ? undefined : "it must be JSON.";
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
