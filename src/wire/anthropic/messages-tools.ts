/** `tools` and `tool_choice` of a Messages request. */

import { z } from "zod";
import type { Tool, ToolChoice } from "../../contracts/chat-model.ts";
import { type Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { cacheMarkOf } from "../cache-control.ts";
import { unknownMembers } from "../openai/unknown-fields.ts";
import { describeOtherForm } from "../tool-forms.ts";
import { toClientTool } from "./client-tools.ts";

const CustomTool = lazy.looseObject(() => ({
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, {
    error: "it must be 1 to 128 letters, digits, underscores or hyphens",
  }),
  description: z.string().nullish(),
  input_schema: z.record(z.string(), z.unknown()),
}));

/** Schema of `tools`; those with another type than `custom` are defined by Anthropic. */
export const Tools = listOf(
  lazy
    .looseObject(() => ({ type: z.string().nullish(), name: z.string().nullish() }))
    .check(({ value, issues }) => {
      if (!isCustom(value)) return;
      const { error } = CustomTool.safeParse(value, { reportInput: true });
      issues.push(...((error?.issues ?? []) as typeof issues));
    }),
).check(({ value, issues }) => {
  const names = new Set<string>();
  for (const [index, { name }] of value.entries()) {
    if (typeof name !== "string") continue;
    if (names.has(name)) {
      issues.push({
        code: "custom",
        path: [index, "name"],
        input: name,
        message: `another tool is called '${name}' too`,
      });
      return;
    }
    names.add(name);
  }
});

export const ToolChoiceField = z.discriminatedUnion("type", [
  lazy.looseObject(() => ({ type: z.literal(["auto", "any"]), disable_parallel_tool_use: z.boolean().nullish() })),
  lazy.looseObject(() => ({
    type: z.literal("tool"),
    name: z.string().min(1),
    disable_parallel_tool_use: z.boolean().nullish(),
  })),
  z.looseObject({ type: z.literal("none") }),
]);

type SentTool = z.output<typeof Tools>[number];
type SentChoice = z.output<typeof ToolChoiceField>;

function isCustom({ type }: { type?: string | null | undefined }): boolean {
  return type === undefined || type === null || type === "custom";
}

export function toTools(sent: readonly SentTool[]): Tool[] {
  return sent.flatMap((tool, index) => {
    if (isCustom(tool)) {
      const { name, description, input_schema: parameters } = tool as unknown as z.output<typeof CustomTool>;
      return [
        {
          name,
          description: description ?? undefined,
          parameters,
          param: `tools[${index}].input_schema`,
          ...(tool.strict === true && { isStrict: true }),
          ...cacheMarkOf(tool),
        },
      ];
    }
    const clientTool = toClientTool(tool);
    return clientTool === undefined ? [] : [{ ...clientTool, param: `tools[${index}].type` }];
  });
}

const TOOL_FIELDS = ["type", "name", "description", "input_schema", "cache_control", "strict", "defer_loading"];

/** Returns the paths of members without effect in the client's own tools. */
export function ignoredToolFields(tools: readonly SentTool[]): string[] {
  return unknownMembers(tools.filter(isCustom), "tools[]", TOOL_FIELDS);
}

/** Whether a model can call the tool: the client runs it. */
function isCallable(tool: SentTool): boolean {
  return isCustom(tool) || toClientTool(tool) !== undefined;
}

/** Types of tools that this service runs for a request. */
export type ServedTypes = ReadonlySet<unknown>;

const NO_TYPES: ServedTypes = new Set();

/** Returns the paths of tools that only Anthropic's service has. */
export function hostedTools(sent: readonly SentTool[], served = NO_TYPES): string[] {
  return sent.flatMap((tool, index) => (isCallable(tool) || served.has(tool.type) ? [] : [`tools[${index}]`]));
}

/** Returns the Fault for the first tool that no client runs; undefined without one. */
export function firstHostedTool(sent: readonly SentTool[], served = NO_TYPES): Fault | undefined {
  const index = sent.findIndex((tool) => !isCallable(tool) && !served.has(tool.type));
  const tool = sent[index];
  if (tool === undefined) return undefined;
  const param = `tools[${index}].type`;
  const path = `Invalid value for '${param}'`;
  const type = String(tool.type).slice(0, 100);
  const otherForm = describeOtherForm(tool, index, "messages");
  if (otherForm !== undefined) return otherForm;
  const message = `${path}: this model does not have the tool '${type}', which runs on Anthropic's servers. Leave it out, send a tool of your own with an input_schema, or use a model whose upstream has the Messages API.`;
  return unsupportedValue(message, param);
}

/**
 * Converts the choice. Throws a Fault when it requires a tool that the model does not get. `mcpNames`: names that the
 * model calls MCP tools by, by their names.
 */
export function toToolChoice(
  choice: SentChoice | undefined,
  sent: readonly SentTool[],
  mcpNames: ReadonlyMap<string, string> = new Map(),
): ToolChoice {
  if (choice === undefined || choice.type === "auto") return "auto";
  if (choice.type === "none") return "none";
  if (choice.type === "any") {
    if (mcpNames.size > 0) return "required";
    if (sent.length > 0) return sent.some(isCallable) ? "required" : "auto";
    const message = "Invalid value for 'tool_choice.type': it may be 'any' only when 'tools' has at least one tool.";
    throw invalidRequest(message, "tool_choice.type", "invalid_value");
  }
  const name = choice.name as string;
  const tool = sent.find((each) => each.name === name);
  const mcpName = mcpNames.get(name);
  if (mcpName !== undefined && (tool === undefined || !isCallable(tool))) return { name: mcpName };
  if (tool === undefined) {
    const message = `Invalid value for 'tool_choice.name': 'tools' has no tool '${name}'.`;
    throw invalidRequest(message, "tool_choice.name", "invalid_value");
  }
  // A model without the tool refuses the request.
  return isCallable(tool) ? { name } : "auto";
}
