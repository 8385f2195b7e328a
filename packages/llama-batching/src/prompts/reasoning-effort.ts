import { RequestError } from "../errors.ts";
import type { ChatTemplate } from "./chat-template.ts";

/** Template variables that turn reasoning on and off. The first defaults to on, the second to off. */
const SWITCHES = ["enable_thinking", "thinking"] as const;
/** Templates have three levels. */
const LEVELS: ReadonlyMap<string, string> = new Map([
  ["minimal", "low"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "high"],
]);

/** Whether the model reasons when the request does not mention it. */
export function reasonsByDefault({ variables }: ChatTemplate): boolean {
  return variables.has("enable_thinking") || !variables.has("thinking");
}

/** Template variables for a reasoning effort. Throws a RequestError when the template has none. */
export function reasoningEffortVariables(template: ChatTemplate, effort: string | undefined): Record<string, unknown> {
  if (effort === undefined) return {};
  const isOff = effort === "none";
  const switches = SWITCHES.filter((name) => template.variables.has(name)).map((name) => [name, !isOff] as const);
  const hasLevels = template.variables.has("reasoning_effort");
  if (switches.length === 0 && (isOff || !hasLevels)) {
    throw new RequestError(
      isOff
        ? "This model always reasons before it answers; its chat template cannot turn that off."
        : "This model's chat template has no levels of effort. Leave out reasoning_effort.",
      "reasoning_effort",
      "unsupported_value",
    );
  }
  if (isOff) return Object.fromEntries(switches);
  const level = LEVELS.get(effort) ?? (hasLevels && isWordOf(template, effort) ? effort : undefined);
  if (level === undefined) {
    throw new RequestError(
      `This model's chat template does not support the effort '${effort}'. Supported: ${[...LEVELS.keys()].join(", ")}.`,
      "reasoning_effort",
      "unsupported_value",
    );
  }
  return { ...Object.fromEntries(switches), ...(hasLevels ? { reasoning_effort: level } : {}) };
}

/** Whether the template contains the word as a string literal, as templates with other levels do. */
function isWordOf({ source }: ChatTemplate, word: string): boolean {
  return source.includes(`'${word}'`) || source.includes(`"${word}"`);
}
