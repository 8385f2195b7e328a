/** `tools` of a Responses request: those that a model gets, and the names of its calls. */

import { createHash } from "node:crypto";
import { z } from "zod";
import type { Tool } from "../../contracts/chat-model.ts";
import { type Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { openVariants } from "../openai/open-variants.ts";
import { isMisspelling, MAX_COMPARED_NAMES } from "../openai/unknown-fields.ts";
import type { CallerToolType } from "./caller-tool-definitions.ts";
import { hostedVariant, isCallerTool, toCallerFunction } from "./caller-tools.ts";
import { functionsIn, TOOL_SEARCH } from "./tool-search.ts";

const Name = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/, {
  error: "it must be 1 to 128 letters, digits, underscores or hyphens",
});
const FunctionTool = lazy.looseObject(() => ({
  name: Name,
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
}));
const CustomTool = lazy.looseObject(() => ({
  name: Name,
  description: z.string().nullish(),
  format: z.looseObject({ type: z.string(), definition: z.string().nullish() }).nullish(),
}));
const OwnTools = { function: FunctionTool, custom: CustomTool };
const NamespaceTool = lazy.looseObject(() => ({ name: z.string().min(1), tools: listOf(openVariants(OwnTools)) }));

export const Tools = listOf(openVariants({ ...OwnTools, namespace: NamespaceTool }));

export const ToolChoiceField = z.union([
  z.enum(["none", "auto", "required"]),
  openVariants({
    function: lazy.looseObject(() => ({ name: z.string().min(1), namespace: z.string().nullish() })),
    custom: lazy.looseObject(() => ({ name: z.string().min(1) })),
    allowed_tools: lazy.looseObject(() => ({
      mode: z.enum(["auto", "required"]),
      tools: listOf(z.looseObject({ type: z.string(), name: z.string().nullish() })),
    })),
  }),
]);

export type SentTool = z.output<typeof Tools>[number];
export type SentChoice = z.output<typeof ToolChoiceField>;

/** Name by which a client refers to a tool. */
export interface ToolName {
  type: "function" | "custom" | CallerToolType;
  name: string;
  namespace: string | undefined;
}

export interface ReadTools {
  tools: Tool[];
  /** Tool names by the flat name that the model calls. */
  names: ReadonlyMap<string, ToolName>;
  /** Tools of the caller that a search of this service has to load first. */
  deferred?: readonly DeferredFunction[];
  /** What this service runs of them; undefined: nothing. */
  served?: ServedTools | undefined;
}

/** A deferred tool of the caller. */
export interface DeferredFunction {
  name: string;
  namespace: string | undefined;
  namespaceDescription: string | undefined;
  definition: Tool;
  sent: SentTool;
  /** Whether an earlier search has loaded it. */
  isLoaded: boolean;
}

/** Tools of a request that this service runs. */
export interface ServedTools {
  /** Positions in `tools`. */
  positions: ReadonlySet<number>;
  /** Values of `include` that they honor. */
  includes: readonly string[];
  /** What `tool_choice` calls their functions, by the name that the model calls. */
  functions: ReadonlyMap<string, ServedName>;
}

export interface ServedName {
  /** Type of the tool, such as `mcp`. */
  type: string;
  name: string;
  serverLabel?: string | undefined;
}

const MAX_NAME_LENGTH = 64;

/** Joins a namespace and a tool's name to the single name that models and upstreams accept. */
export function flatName({ name, namespace }: { name: string; namespace?: string | null | undefined }): string {
  const full = namespace ? `${namespace.replaceAll(/[^\w-]/g, "_")}__${name}` : name;
  return full.length <= MAX_NAME_LENGTH ? full : withDigest(full, full);
}

/**
 * Returns the name that models call a function of a service tool by: letters, digits, `_` and `-`, with a digest where
 * the original is longer or has others, or could be read as another server's.
 */
export function serviceFunctionName(name: string, serverLabel?: string): string {
  const prefix = serverLabel === undefined ? "" : `${serverLabel.replaceAll(/[^\w-]/g, "_")}__`;
  const full = `${prefix}${name.replaceAll(/[^\w-]/g, "_")}`;
  const isPlain = serverLabel === undefined ? full === name : full === `${serverLabel}__${name}`;
  const isAmbiguous = serverLabel?.includes("__") === true || name.startsWith("_");
  if (isPlain && !isAmbiguous && full.length <= MAX_NAME_LENGTH) return full;
  return withDigest(full, `${serverLabel ?? ""}\0${name}`);
}

/** Shortens a name and adds a digest of what it stands for. */
export function withDigest(name: string, original: string): string {
  const digest = createHash("sha256").update(original).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_NAME_LENGTH - digest.length - 1)}_${digest}`;
}

/** Codex sends the tool by default. */
const CODEX_HINT = ' (in Codex: web_search = "disabled" in config.toml)';
const MCP_HINT =
  " or name a server of the operator as 'server_label', without 'server_url' (the setting mcp.caller_servers admits addresses)";
const OWN_TYPES = [...Object.keys(OwnTools), "namespace"];

/** What happens to tools that run at OpenAI, for models without them. */
export type HostedToolsPolicy = "refuse" | "ignore";

/** Returns the tools that no caller runs, with the paths of their types. */
function notCallable(sent: readonly SentTool[], served?: ServedTools): { type: string; path: string }[] {
  return sent.flatMap((tool, index) => {
    if (served?.positions.has(index)) return [];
    const path = `tools[${index}]`;
    if (tool.type !== "namespace") {
      const isOwn = Object.hasOwn(OwnTools, tool.type) || isCallerTool(tool);
      return isOwn ? [] : [{ type: tool.type, path: `${path}.type` }];
    }
    const { tools } = tool as unknown as z.output<typeof NamespaceTool>;
    return tools.flatMap(({ type }, at) =>
      Object.hasOwn(OwnTools, type) ? [] : [{ type, path: `${path}.tools[${at}].type` }],
    );
  });
}

/** Returns the paths of the tools that `ignore` leaves out. */
export function hostedTools(sent: readonly SentTool[], served?: ServedTools): string[] {
  return notCallable(sent, served).map(({ path }) => path.slice(0, -".type".length));
}

/** Returns the Fault for the first tool that no caller runs; undefined without one. */
export function firstHostedTool(
  sent: readonly SentTool[],
  policy: HostedToolsPolicy,
  served?: ServedTools,
): Fault | undefined {
  for (const [index, { type, path }] of notCallable(sent, served).entries()) {
    const fault = hostedTool(type.slice(0, 100), path, policy, index < MAX_COMPARED_NAMES);
    if (fault !== undefined) return fault;
  }
  for (const [index, tool] of sent.entries()) {
    const fault = isCallerTool(tool) ? hostedVariant(tool.type, tool, `tools[${index}]`) : undefined;
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Hosted tools that this service runs where a section of the configuration with their name is there. */
const CONFIGURED_TOOLS: ReadonlySet<string> = new Set(["code_interpreter", "web_search"]);

/** A misspelled type is refused by every policy. */
function hostedTool(type: string, param: string, policy: HostedToolsPolicy, isCompared: boolean): Fault | undefined {
  const meant = isCompared ? OWN_TYPES.find((each) => isMisspelling(type, each)) : undefined;
  if (meant !== undefined) {
    return unsupportedValue(`There are no tools of the type '${type}'. Did you mean '${meant}'?`, param);
  }
  if (policy === "ignore") return undefined;
  const hint = type === "web_search" ? CODEX_HINT : type === "mcp" ? MCP_HINT : "";
  const wayOut = CONFIGURED_TOOLS.has(type)
    ? `An operator makes it available to every model with the section '${type}' of parlance.yaml. Otherwise leave`
    : "Leave";
  const message = `This model does not have the tool '${type}'. ${wayOut} it out${hint}, send a function that does the same, or use a model whose upstream has the Responses API.`;
  return unsupportedValue(message, param);
}

/**
 * Converts the tools; hosted ones are left out. `loaded`: those that searches of the conversation have loaded. Throws a
 * Fault for a duplicate name.
 */
export function readTools(sent: readonly SentTool[], loaded: readonly SentTool[] = []): ReadTools {
  const tools: Tool[] = [];
  const names = new Map<string, ToolName>();
  const add = (tool: SentTool, path: string, namespace: string | undefined): Tool | undefined => {
    if (isCallerTool(tool)) {
      const { name: flat, ...definition } = toCallerFunction(tool.type, tool);
      if (names.has(flat))
        throw invalidRequest(`Another tool is called '${flat}' too.`, `${path}.type`, "invalid_value");
      names.set(flat, { type: tool.type, name: flat, namespace: undefined });
      tools.push({ name: flat, ...definition, param: `${path}.type` });
      return undefined;
    }
    if (tool.type !== "function" && tool.type !== "custom") return undefined;
    const name = String(tool.name);
    const flat = flatName({ name, namespace });
    if (names.has(flat)) throw invalidRequest(`Another tool is called '${name}' too.`, `${path}.name`, "invalid_value");
    names.set(flat, { type: tool.type, name, namespace });
    const definition = tool.type === "function" ? toFunction(tool, flat, path) : toFunctionOfText(tool, flat, path);
    tools.push(definition);
    return definition;
  };
  const search = sent.find(({ type }) => type === TOOL_SEARCH);
  const loadedNames = new Set(functionsIn(loaded).map(flatName));
  const deferred: DeferredFunction[] = [];
  for (const each of flatTools(sent)) {
    const { tool, path, namespace, namespaceDescription } = each;
    const definition = add(tool, path, namespace);
    if (search === undefined || tool.defer_loading !== true || definition === undefined) continue;
    const isLoaded = loadedNames.has(definition.name);
    deferred.push({ name: String(tool.name), namespace, namespaceDescription, definition, sent: tool, isLoaded });
  }
  if (search?.execution !== "client") return { tools, names, deferred };
  // The caller searches among tools that the request need not have.
  for (const { tool, namespace } of flatTools(loaded)) {
    if (!names.has(flatName({ name: String(tool.name), namespace }))) add(tool, "input", namespace);
  }
  return { tools: shownTools({ tools, deferred }), names };
}

/** Returns the tools without those that no search has loaded. */
export function shownTools({ tools, deferred = [] }: Pick<ReadTools, "tools" | "deferred">): Tool[] {
  const hidden = new Set(deferred.filter(({ isLoaded }) => !isLoaded).map(({ definition }) => definition));
  return tools.filter((tool) => !hidden.has(tool));
}

interface FlatTool {
  tool: SentTool;
  path: string;
  namespace: string | undefined;
  namespaceDescription: string | undefined;
}

function flatTools(sent: readonly SentTool[]): FlatTool[] {
  return sent.flatMap((tool, index): FlatTool[] => {
    const path = `tools[${index}]`;
    if (tool.type !== "namespace") return [{ tool, path, namespace: undefined, namespaceDescription: undefined }];
    const { name, tools: inner, description } = tool as unknown as z.output<typeof NamespaceTool>;
    return inner.map((each, position) => ({
      tool: each,
      path: `${path}.tools[${position}]`,
      namespace: name,
      namespaceDescription: typeof description === "string" ? description : undefined,
    }));
  });
}

function toFunction(tool: SentTool, name: string, path: string): Tool {
  const { description, parameters, strict } = tool as unknown as z.output<typeof FunctionTool>;
  return {
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    ...(strict === true && { isStrict: true }),
    param: `${path}.parameters`,
  };
}

/**
 * Converts a tool with text input to a function of one string. The model sees a grammar for the text, which is not
 * enforced.
 */
function toFunctionOfText(tool: SentTool, name: string, path: string): Tool {
  const { description, format } = tool as unknown as z.output<typeof CustomTool>;
  const grammar = typeof format?.definition === "string" ? `The input follows this grammar:\n${format.definition}` : "";
  const parameters = {
    type: "object",
    properties: { input: { type: "string" } },
    required: ["input"],
    additionalProperties: false,
  };
  const text = [description ?? "", grammar].filter((each) => each !== "").join("\n\n");
  return { name, description: text === "" ? undefined : text, parameters, param: `${path}.format` };
}
