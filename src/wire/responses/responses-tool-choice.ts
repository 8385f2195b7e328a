/** `tool_choice` of a Responses request. */

import type { Tool, ToolChoice } from "../../contracts/chat-model.ts";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { isCallerType } from "./caller-tools.ts";
import type { ReadTools, SentChoice, ServedName, ToolName } from "./responses-tools.ts";

/** Returns the tools that the model may call, and whether it must. Throws a Fault for an unsupported choice. */
export function toToolChoice(
  choice: SentChoice | undefined,
  read: ReadTools,
): { tools: Tool[]; toolChoice: ToolChoice } {
  const { tools, names } = read;
  if (choice === undefined || choice === "auto" || choice === "none") return { tools, toolChoice: choice ?? "auto" };
  if (choice === "required") {
    if (tools.length > 0) return { tools, toolChoice: "required" };
    const message = "It may be 'required' only when 'tools' has a function or a custom tool.";
    throw invalidRequest(message, "tool_choice", "invalid_value");
  }
  if (choice.type === "allowed_tools") return toAllowedTools(choice as unknown as AllowedTools, read);
  if (isCallerType(choice.type)) {
    const { type } = choice;
    const flat = [...names].find(([, tool]) => tool.type === type)?.[0];
    if (flat !== undefined) return { tools, toolChoice: { name: flat } };
    throw invalidRequest(`'tools' has no tool of the type '${type}'.`, "tool_choice.type", "invalid_value");
  }
  const functions = tools.filter(({ name }) => {
    const servedName = read.served?.functions.get(name);
    return servedName !== undefined && isChoice(choice, servedName);
  });
  const [first] = functions;
  if (first === undefined) return { tools, toolChoice: { name: chosenName(choice, names) } };
  return functions.length === 1
    ? { tools, toolChoice: { name: first.name } }
    : { tools: functions, toolChoice: "required" };
}

interface AllowedTools {
  mode: "auto" | "required";
  tools: { type: string; name?: string }[];
}

function toAllowedTools({ mode, tools: allowed }: AllowedTools, { tools, names, served }: ReadTools) {
  const isAllowed = (tool: ToolName | undefined) =>
    allowed.some((each) => (each.name ?? each.type) === (each.name === undefined ? tool?.type : tool?.name));
  const isServed = (name: ServedName | undefined) => name !== undefined && allowed.some((each) => isChoice(each, name));
  const allowedTools = tools.filter(({ name }) => isAllowed(names.get(name)) || isServed(served?.functions.get(name)));
  return { tools: allowedTools, toolChoice: allowedTools.length === 0 ? ("auto" as const) : mode };
}

/** Name by which the model calls the tool of the caller. */
function chosenName(choice: Exclude<SentChoice, string>, names: ReadTools["names"]): string {
  if (choice.type !== "function" && choice.type !== "custom") {
    const message = `Models here do not have the hosted tool '${choice.type}', so it cannot be forced.`;
    throw unsupportedValue(message, "tool_choice.type");
  }
  const name = String(choice.name);
  const namespace = typeof choice.namespace === "string" ? choice.namespace : undefined;
  const isNamed = (tool: ToolName) => tool.name === name && (namespace ?? tool.namespace) === tool.namespace;
  const flat = [...names].find(([, tool]) => isNamed(tool))?.[0];
  if (flat === undefined) throw invalidRequest(`'tools' has no tool '${name}'.`, "tool_choice.name", "invalid_value");
  return flat;
}

/** Whether a choice means a function of a tool that this service runs; a choice without a name means all of the tool. */
function isChoice(choice: Readonly<Record<string, unknown>>, { type, name, serverLabel }: ServedName): boolean {
  const isServer = choice.server_label == null || choice.server_label === serverLabel;
  return choice.type === type && isServer && (choice.name == null || choice.name === name);
}
