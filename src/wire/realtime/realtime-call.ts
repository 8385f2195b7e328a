/** Builds the chat call of a Realtime response. */

import type { ChatDefaults, ChatRequest, Tool } from "../../contracts/chat-model.ts";
import { defaultChatRequest } from "../../contracts/default-chat-request.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { toModerationInput } from "../moderation-input.ts";
import { type ConversationItem, toChatMessages } from "./conversation-items.ts";
import type { FunctionTool, SessionSettings } from "./session-settings.ts";

type Options = Pick<
  SessionSettings,
  "instructions" | "tools" | "toolChoice" | "parallelToolCalls" | "maxOutputTokens" | "reasoningEffort"
> & {
  model: string;
  callerHeaders: CallerHeaders;
  /** Functions of MCP servers, with the names that `tool_choice` may have. */
  functions?: readonly McpFunction[];
};

interface McpFunction {
  definition: Tool;
  name: string;
  serverLabel?: string;
}

interface RealtimeCall {
  request: ChatRequest;
  moderationInput(): ReturnType<typeof toModerationInput>;
  withDefaults(defaults: ChatDefaults): RealtimeCall;
}

/** Throws a Fault for a tool choice without its tool. */
export function toRealtimeCall(
  options: Options,
  items: readonly ConversationItem[],
  defaults: ChatDefaults = {},
): RealtimeCall {
  const omitted = defaultChatRequest(defaults);
  const { maxOutputTokens } = options;
  const request: ChatRequest = {
    ...omitted,
    model: options.model,
    messages: toChatMessages(options.instructions, items),
    maxTokens: maxOutputTokens === "inf" ? omitted.maxTokens : maxOutputTokens,
    tools: [...functionsOf(options).map(toTool), ...(options.functions ?? []).map(({ definition }) => definition)],
    toolChoice: toToolChoice(options),
    parallelToolCalls: options.parallelToolCalls,
    reasoningEffort: options.reasoningEffort ?? omitted.reasoningEffort,
    callerHeaders: options.callerHeaders,
  };
  return {
    request,
    moderationInput: () => toModerationInput(request),
    withDefaults: (more) => toRealtimeCall(options, items, { ...more, ...defaults }),
  };
}

function functionsOf({ tools }: Pick<Options, "tools">): FunctionTool[] {
  return tools.filter((tool) => tool.type === "function");
}

function toTool({ name, description, parameters }: FunctionTool, index: number): Tool {
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    param: `tools[${index}].parameters`,
  };
}

function toToolChoice(options: Options): ChatRequest["toolChoice"] {
  const { toolChoice, tools, functions = [] } = options;
  if (typeof toolChoice === "string") {
    if (toolChoice !== "required" || tools.length > 0) return toolChoice;
    throw invalidRequest("It may be 'required' only when there are 'tools'.", "tool_choice", "invalid_value");
  }
  if (toolChoice.type === "function") {
    if (functionsOf(options).some(({ name }) => name === toolChoice.name)) return { name: toolChoice.name };
    throw invalidRequest(`'tools' has no tool '${toolChoice.name}'.`, "tool_choice.name", "invalid_value");
  }
  const { server_label: label, name } = toolChoice;
  const ofServer = functions.filter(({ serverLabel }) => serverLabel === label);
  const match = ofServer.find((each) => each.name === name);
  if (match !== undefined) return { name: match.definition.name };
  if (ofServer.length > 0 && name == null) return "required";
  const what = name == null ? `server '${label}'` : `tool '${name}' of the server '${label}'`;
  throw invalidRequest(`'tools' has no ${what}.`, "tool_choice", "invalid_value");
}
