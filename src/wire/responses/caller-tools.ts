/**
 * Tools that OpenAI defines and the caller runs: shell, local_shell, apply_patch, computer, and tool_search with
 * `execution: client`. Models get them as functions; their calls become the items of the Responses API, and the items become calls and results again. Shapes:
 * OpenAI's specification of the Responses API, as in the types of its SDK.
 */

import { z } from "zod";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { type CallerToolType, DEFINITIONS, type Definition } from "./caller-tool-definitions.ts";

export function isCallerType(type: string): type is CallerToolType {
  return Object.hasOwn(DEFINITIONS, type);
}

/** Whether the caller runs a tool: a search runs here unless it says otherwise. */
export function isCallerTool<Tool extends { type: string; execution?: unknown }>(
  tool: Tool,
): tool is Tool & { type: CallerToolType } {
  return isCallerType(tool.type) && (tool.type !== "tool_search" || tool.execution === "client");
}

/** Returns the function that the model gets for a tool. */
export function toCallerFunction(type: CallerToolType, tool: Readonly<Record<string, unknown>>): Definition {
  const definition = DEFINITIONS[type];
  if (type === "tool_search") {
    const { description, parameters } = tool;
    return {
      ...definition,
      ...(typeof description === "string" && { description }),
      ...(typeof parameters === "object" && parameters !== null && { parameters: { ...parameters } }),
    };
  }
  const { display_width: width, display_height: height, environment } = tool;
  if (type !== "computer_use_preview" || !Number.isInteger(width) || !Number.isInteger(height)) return definition;
  const system = typeof environment === "string" ? `, and its environment is ${environment.slice(0, 100)}` : "";
  const description = `${definition.description} The screen has ${width}x${height} pixels${system}.`;
  return { ...definition, description };
}

/** Returns the Fault of a tool that would run at OpenAI: a shell in a container. */
export function hostedVariant(
  type: CallerToolType,
  { environment }: Readonly<Record<string, unknown>>,
  path: string,
): Fault | undefined {
  if (type !== "shell" || typeof environment !== "object" || environment === null) return undefined;
  const { type: kind } = environment as { type?: unknown };
  if (kind === undefined || kind === "local") return undefined;
  const message = `There are no containers here, so the tool 'shell' runs at the caller: leave out 'environment', or send {"type": "local"}, not '${String(kind).slice(0, 100)}'.`;
  return unsupportedValue(message, `${path}.environment.type`);
}

const CALL_TYPES: Readonly<Record<CallerToolType, string>> = {
  shell: "shell_call",
  local_shell: "local_shell_call",
  apply_patch: "apply_patch_call",
  computer: "computer_call",
  computer_use_preview: "computer_call",
  tool_search: "tool_search_call",
};

/** Prefix of the IDs of a tool's calls. */
export const CALL_PREFIXES: Readonly<Record<CallerToolType, string>> = {
  shell: "sh_",
  local_shell: "lsh_",
  apply_patch: "apc_",
  computer: "cu_",
  computer_use_preview: "cu_",
  tool_search: "tsc_",
};

/** Renders a call as its item, without `id` and `status`; undefined for arguments that are not an object. */
export function toCallItem(type: CallerToolType, callId: string, json: string): Record<string, unknown> | undefined {
  const call = readObject(json);
  return call && { type: CALL_TYPES[type], call_id: callId, ...contentOf(type, call) };
}

/** Renders a call whose arguments are not known yet, or not valid. */
export function toEmptyCallItem(type: CallerToolType, callId: string): Record<string, unknown> {
  return { type: CALL_TYPES[type], call_id: callId, ...contentOf(type, {}) };
}

function contentOf(type: CallerToolType, call: Readonly<Record<string, unknown>>): Record<string, unknown> {
  switch (type) {
    case "shell": {
      const { commands = [], timeout_ms = null, max_output_length = null } = call;
      return { action: { commands, timeout_ms, max_output_length }, environment: { type: "local" } };
    }
    case "local_shell": {
      const { command = [], env = {}, ...limits } = call;
      return { action: { type: "exec", command, env, ...limits } };
    }
    case "apply_patch": {
      const { type: kind = "update_file", path = "", diff = "" } = call;
      return { operation: kind === "delete_file" ? { type: kind, path } : { type: kind, path, diff } };
    }
    case "computer":
      return { pending_safety_checks: [], actions: call.type === undefined ? [] : [call] };
    case "computer_use_preview":
      return { pending_safety_checks: [], ...(call.type === undefined ? {} : { action: call }) };
    case "tool_search":
      return { execution: "client", arguments: call };
  }
}

function readObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json === "" ? "{}" : json);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

const callId = z.string().min(1);
const fields = z.record(z.string(), z.unknown());
const Screenshot = lazy.looseObject(() => ({ type: z.string().nullish(), image_url: z.string().min(1).nullish() }));

/** Items of calls and their results. */
export const CALLER_ITEMS = {
  shell_call: lazy.looseObject(() => ({ call_id: callId, action: z.looseObject({ commands: z.array(z.string()) }) })),
  local_shell_call: lazy.looseObject(() => ({
    call_id: callId,
    action: z.looseObject({ command: z.array(z.string()) }),
  })),
  apply_patch_call: lazy.looseObject(() => ({
    call_id: callId,
    operation: z.looseObject({ type: z.string(), path: z.string() }),
  })),
  computer_call: lazy.looseObject(() => ({
    call_id: callId,
    action: fields.nullish(),
    actions: z.array(fields).nullish(),
  })),
  shell_call_output: lazy.looseObject(() => ({ call_id: callId, output: z.union([z.string(), z.array(fields)]) })),
  // The specification has the call's ID as `id`, some SDKs as `call_id`.
  local_shell_call_output: lazy.looseObject(() => ({
    call_id: callId.nullish(),
    id: callId.nullish(),
    output: z.string(),
  })),
  apply_patch_call_output: lazy.looseObject(() => ({
    call_id: callId,
    status: z.string(),
    output: z.string().nullish(),
  })),
  computer_call_output: z.looseObject({ call_id: callId, output: Screenshot }),
} satisfies Record<string, z.ZodType>;

type CallerItem = Readonly<Record<string, unknown>>;

/** Converts the item of a call to the calls that the model made; undefined for other items. */
export function toModelCall(
  type: string,
  item: CallerItem,
): { id: string; name: string; arguments: string } | undefined {
  const id = String(item.call_id);
  const call = (name: string, value: unknown) => ({ id, name, arguments: JSON.stringify(value) });
  const { action, actions, operation } = item as Record<string, Record<string, unknown> | undefined>;
  switch (type) {
    case "shell_call":
      return call(DEFINITIONS.shell.name, withoutNull(action));
    case "local_shell_call": {
      const { type: _exec, ...rest } = action ?? {};
      return call(DEFINITIONS.local_shell.name, withoutNull(rest));
    }
    case "apply_patch_call":
      return call(DEFINITIONS.apply_patch.name, withoutNull(operation));
    case "computer_call":
      return call(
        DEFINITIONS.computer.name,
        withoutNull(action ?? (actions as unknown as CallerItem[] | undefined)?.[0]),
      );
    default:
      return undefined;
  }
}

export interface CallResult {
  callId: string;
  text: string;
  /** Address of a screenshot; null: it is missing. */
  image?: string | null;
}

/** Converts the item of a result to what the model reads; undefined for other items. */
export function toModelResult(type: string, item: CallerItem): CallResult | undefined {
  const { call_id, id, output, status } = item;
  const result = (content: string) => ({ callId: String(call_id ?? id), text: content });
  switch (type) {
    case "shell_call_output":
    case "local_shell_call_output":
      return result(typeof output === "string" ? output : JSON.stringify(output));
    case "apply_patch_call_output":
      return result(typeof output === "string" && output !== "" ? `${status}: ${output}` : String(status));
    case "computer_call_output":
      return { ...result(""), image: (output as { image_url?: string | null }).image_url ?? null };
    default:
      return undefined;
  }
}

function withoutNull(value: CallerItem = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
}
