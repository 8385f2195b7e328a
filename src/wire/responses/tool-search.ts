/** Items of `tool_search`: a search for deferred tools, and the definitions that it loaded. */

import type { ServiceItem } from "./item-events.ts";

export const TOOL_SEARCH = "tool_search";

/** Name of a tool, and the namespace or server that it belongs to. */
export interface QualifiedName {
  name: string;
  namespace?: string | undefined;
}

type Status = "in_progress" | "completed" | "incomplete";
type Fields = Readonly<Record<string, unknown>>;
type SentTool = Fields & { type: string };

/** Renders a search that this service runs. `suffix`: the part of the ID that both items share. */
export function toSearchCall(suffix: string, input: Fields, status: Status): ServiceItem {
  return {
    id: `tsc_${suffix}`,
    type: "tool_search_call",
    status,
    call_id: null,
    execution: "server",
    arguments: input,
  };
}

export function toSearchOutput(suffix: string, tools: readonly SentTool[], status: Status): ServiceItem {
  return { id: `tso_${suffix}`, type: "tool_search_output", status, call_id: null, execution: "server", tools };
}

/** Returns the functions among loaded tools, those of namespaces too. */
export function functionsIn(tools: readonly Fields[]): QualifiedName[] {
  return tools.flatMap(({ type, name, tools: inner }) => {
    if (type !== "namespace") return typeof name === "string" ? [{ name }] : [];
    return (inner as Fields[]).map((each) => ({ name: String(each.name), namespace: String(name) }));
  });
}

/** Returns the tools that earlier searches of a conversation have loaded. */
export function loadedTools(items: readonly Fields[]): SentTool[] {
  return items.flatMap(({ type, tools }) => (type === "tool_search_output" ? (tools as SentTool[]) : []));
}

/** Returns what a model reads of a search. Their definitions are among its tools from then on. */
export function textOfToolSearch(tools: readonly QualifiedName[]): string {
  if (tools.length === 0) return "No tool matches. Search again with other words.";
  const names = tools.map(({ name, namespace }) => (namespace === undefined ? name : `${name} (${namespace})`));
  return `These tools are available from now on: ${names.join(", ")}.`;
}
