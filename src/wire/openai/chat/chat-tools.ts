/** `tools` and `tool_choice` of a chat request. */

import { z } from "zod";
import type { Tool, ToolChoice } from "../../../contracts/chat-model.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { openVariants } from "../open-variants.ts";

const FunctionTool = lazy.looseObject(() => ({
  function: z.looseObject({
    name: z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, {
      error: "it must be 1 to 64 letters, digits, underscores or hyphens",
    }),
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.unknown()).nullish(),
    strict: z.boolean().nullish(),
  }),
}));

export const Tools = listOf(openVariants({ function: FunctionTool })).check(({ value, issues }) => {
  const names = new Set<string>();
  for (const [index, tool] of value.entries()) {
    if (!isFunctionTool(tool)) continue;
    const { name } = tool.function;
    if (names.has(name)) {
      issues.push({
        code: "custom",
        path: [index, "function", "name"],
        input: name,
        message: `another tool is called '${name}' too`,
      });
      return;
    }
    names.add(name);
  }
});

const NamedChoice = lazy.looseObject(() => ({ function: z.looseObject({ name: z.string() }) }));

const AllowedTools = lazy.looseObject(() => ({
  allowed_tools: z.looseObject({
    mode: z.enum(["auto", "required"]),
    tools: listOf(openVariants({ function: NamedChoice })).min(1),
  }),
}));

export const ToolChoiceField = z.union([
  z.enum(["none", "auto", "required"]),
  // Mistral's clients send it.
  z.literal("any").transform(() => "required" as const),
  openVariants({ function: NamedChoice, allowed_tools: AllowedTools }),
]);

type SentTool = z.output<typeof Tools>[number];
type SentChoice = z.output<typeof ToolChoiceField>;

export function isFunctionTool(tool: SentTool): tool is SentTool & z.output<typeof FunctionTool> {
  return tool.type === "function";
}

function isNamedChoice(choice: SentChoice): choice is Exclude<SentChoice, string> & z.output<typeof NamedChoice> {
  return typeof choice !== "string" && choice.type === "function";
}

function isAllowedTools(
  choice: SentChoice | undefined,
): choice is Exclude<SentChoice, string> & z.output<typeof AllowedTools> {
  return typeof choice === "object" && choice.type === "allowed_tools";
}

/** Whether Parlance supports this type of choice. */
export function isKnownChoice(choice: SentChoice): boolean {
  return typeof choice === "string" || isNamedChoice(choice) || isAllowedTools(choice);
}

/** Finds the problem of a choice among these tools and its path; undefined if it is valid. */
export function choiceProblem(
  choice: SentChoice,
  tools: readonly SentTool[],
): { path: string[]; message: string } | undefined {
  if (isNamedChoice(choice)) {
    const { name } = choice.function;
    if (tools.some((tool) => isFunctionTool(tool) && tool.function.name === name)) return undefined;
    return { path: ["function", "name"], message: `'tools' has no function '${name}'` };
  }
  if (isAllowedTools(choice)) {
    const unknown = choice.allowed_tools.tools.findIndex(
      (allowed) => !tools.some((tool) => nameOf(tool) === nameOf(allowed)),
    );
    if (unknown === -1) return undefined;
    const path = ["allowed_tools", "tools", String(unknown)];
    return { path, message: "it names a tool that 'tools' does not have" };
  }
  if (choice !== "required" || tools.length > 0) return undefined;
  return { path: [], message: "it may be 'required' only when 'tools' names at least one" };
}

function nameOf(tool: { type: string }): string | undefined {
  return (tool as Partial<z.output<typeof NamedChoice>>).function?.name;
}

/** Selects the `tools` that the choice allows. */
export function toTools(tools: readonly SentTool[], choice: SentChoice | undefined): Tool[] {
  const allowed = isAllowedTools(choice) ? new Set(choice.allowed_tools.tools.map(nameOf)) : undefined;
  return tools.flatMap((tool, index) => {
    if (!isFunctionTool(tool) || allowed?.has(tool.function.name) === false) return [];
    const { name, description, parameters } = tool.function;
    const param = `tools[${index}].function.parameters`;
    return [{ name, description: description ?? undefined, parameters: parameters ?? undefined, param }];
  });
}

export function toToolChoice(choice: SentChoice | undefined): ToolChoice {
  if (choice === undefined) return "auto";
  if (isNamedChoice(choice)) return { name: choice.function.name };
  if (isAllowedTools(choice)) return choice.allowed_tools.mode;
  return typeof choice === "string" ? choice : "auto";
}
