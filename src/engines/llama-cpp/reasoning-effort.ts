import { unsupportedValue } from "../../faults.ts";
import type { ChatTemplate } from "./chat-template.ts";

/** Variables by which templates are told whether to think. The first is on unless told otherwise, the second off. */
const SWITCHES = ["enable_thinking", "thinking"] as const;
/** Templates know three levels. */
const LEVELS: ReadonlyMap<string, string> = new Map([
  ["minimal", "low"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "high"],
]);

/** Whether a model thinks when nothing is said of it. */
export function thinksUnasked({ variables }: ChatTemplate): boolean {
  return variables.has("enable_thinking") || !variables.has("thinking");
}

/** The caller's word for how long to think, as the template's variables. Throws a Fault where it knows none that say so. */
export function effortVariables(template: ChatTemplate, effort: string | undefined): Record<string, unknown> {
  if (effort === undefined) return {};
  const isOff = effort === "none";
  const switches = SWITCHES.filter((name) => template.variables.has(name)).map((name) => [name, !isOff] as const);
  const hasLevels = template.variables.has("reasoning_effort");
  if (switches.length === 0 && (isOff || !hasLevels)) {
    throw unsupportedValue(
      isOff
        ? "This model always thinks before it answers; its chat template cannot turn that off."
        : "This model's chat template knows no levels of effort; leave reasoning_effort out.",
      "reasoning_effort",
    );
  }
  if (isOff) return Object.fromEntries(switches);
  const level = LEVELS.get(effort) ?? (hasLevels && isWordOf(template, effort) ? effort : undefined);
  if (level === undefined) {
    throw unsupportedValue(
      `This model's chat template does not know the effort '${effort}'; it may be ${[...LEVELS.keys()].join(", ")}.`,
      "reasoning_effort",
    );
  }
  return { ...Object.fromEntries(switches), ...(hasLevels ? { reasoning_effort: level } : {}) };
}

/** Whether a template compares something with a word, as those do that know levels of their own. */
function isWordOf({ source }: ChatTemplate, word: string): boolean {
  return source.includes(`'${word}'`) || source.includes(`"${word}"`);
}
