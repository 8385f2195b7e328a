/** Anthropic's server tools that this service runs, and the blocks of their calls. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { CODE_OUTPUTS } from "../responses/code-interpreter.ts";
import type { Annotation, ServiceItem } from "../responses/item-events.ts";
import type { SentTool } from "../responses/responses-tools.ts";
import { functionsIn, textOfToolSearch } from "../responses/tool-search.ts";
import { WEB_SEARCH_SOURCES } from "../responses/web-search.ts";

type Fields = Readonly<Record<string, unknown>>;

const TYPE = /^(?:(?:web_search|code_execution)_\d{8}|(tool_search_tool_(?:regex|bm25))(?:_\d{8})?)$/;

/** Whether a tool is one that this service may run. */
export function isServerTool({ type }: { type?: unknown }): boolean {
  return TYPE.test(String(type));
}

/** What a result block needs of the items. */
export const SERVER_TOOL_INCLUDES = [CODE_OUTPUTS, WEB_SEARCH_SOURCES];

/** Renders the tool as that of a Responses request, whose schema checks its fields. */
export function toServerTool({ type, allowed_domains, blocked_domains, user_location }: Fields): SentTool {
  const search = TYPE.exec(String(type))?.[1];
  if (search !== undefined) return { type: search };
  if (!String(type).startsWith("web_search")) return { type: "code_interpreter", container: { type: "auto" } };
  const filters = {
    ...(allowed_domains != null && { allowed_domains }),
    ...(blocked_domains != null && { blocked_domains }),
  };
  return { type: "web_search", filters, ...(user_location != null && { user_location }) };
}

/** Returns the calls that the tools allow together; undefined where one has no maximum. */
export function maxUses(tools: readonly Fields[]): number | undefined {
  const uses = tools.map(({ max_uses: max }) => max);
  return uses.every((max) => typeof max === "number") ? uses.reduce((sum, max) => sum + max, 0) : undefined;
}

export interface ServerUse {
  type: "server-use";
  id: string;
  name: string;
  input: object;
}

export interface ServerResult {
  type: "server-result";
  block: {
    type: "web_search_tool_result" | "code_execution_tool_result" | "tool_search_tool_result";
    tool_use_id: string;
    content: unknown;
  };
}

/** Returns the blocks of an item that has ended; none for an item of another tool. `text`: what the model read. */
export function toServerBlocks(item: ServiceItem, text: string): (ServerUse | ServerResult)[] {
  const id = `srvtoolu_${item.id.slice(item.id.indexOf("_") + 1)}`;
  if (item.type === "web_search_call") {
    const { query, sources } = item.action as { query: string; sources?: { url: string }[] };
    const content =
      item.status === "failed"
        ? { type: "web_search_tool_result_error", error_code: "unavailable" }
        : (sources ?? []).map(({ url }, index) => ({
            ...{ type: "web_search_result", url, title: url, page_age: null },
            // The model reads it again in the next turn.
            encrypted_content: index === 0 ? Buffer.from(text).toString("base64") : "",
          }));
    return [
      { type: "server-use", id, name: "web_search", input: { query } },
      { type: "server-result", block: { type: "web_search_tool_result", tool_use_id: id, content } },
    ];
  }
  if (item.type === "tool_search_call") {
    const input = item.arguments as object;
    return [{ type: "server-use", id, name: `tool_search_tool_${"pattern" in input ? "regex" : "bm25"}`, input }];
  }
  if (item.type === "tool_search_output") {
    const block = { type: "tool_search_tool_result" as const, tool_use_id: id, content: toReferences(item) };
    return [{ type: "server-result", block }];
  }
  if (item.type !== "code_interpreter_call") return [];
  const logs = ((item.outputs ?? []) as { logs?: string }[]).map(({ logs = "" }) => logs).join("\n");
  const isFailed = item.status === "incomplete" || item.status === "failed";
  const content = {
    type: "code_execution_result",
    stdout: logs,
    stderr: "",
    return_code: isFailed ? 1 : 0,
    content: [],
  };
  return [
    { type: "server-use", id, name: "code_execution", input: { code: item.code } },
    { type: "server-result", block: { type: "code_execution_tool_result", tool_use_id: id, content } },
  ];
}

function toReferences({ status, tools }: ServiceItem) {
  if (status === "incomplete") return { type: "tool_search_tool_result_error", error_code: "invalid_tool_input" };
  const references = functionsIn(tools as Fields[]).map(({ name }) => ({ type: "tool_reference", tool_name: name }));
  return { type: "tool_search_tool_search_result", tool_references: references };
}

/** Returns the names that tool references of a content have. */
export function referencesIn(content: unknown): string[] {
  const blocks = Array.isArray(content) ? content : ((content as Fields | null)?.tool_references ?? []);
  if (!Array.isArray(blocks)) return [];
  return blocks.flatMap(({ type, tool_name: name }: Fields) => (type === "tool_reference" ? [String(name)] : []));
}

/** Converts the citations of a text. */
export function toCitations(annotations: readonly Annotation[]): Fields[] {
  return annotations.flatMap(({ type, url, title }) =>
    type === "url_citation"
      ? [{ type: "web_search_result_location", url, title, encrypted_index: "", cited_text: "" }]
      : [],
  );
}

export const ServerToolUse = lazy.looseObject(() => ({
  id: z.string().min(1),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
}));

/** Whether a block is the result of a server tool, such as `web_search_tool_result`. */
export function isServerResult({ type }: { type: string }): boolean {
  return type !== "mcp_tool_result" && type.endsWith("_tool_result");
}

/** Returns what a model reads of an earlier result. */
export function textOfServerResult({ content }: Fields): string {
  if (!Array.isArray(content)) {
    const { stdout, stderr, error_code: code, tool_references: references } = (content ?? {}) as Fields;
    if (references !== undefined) return textOfToolSearch(referencesIn(content).map((name) => ({ name })));
    if (typeof stdout === "string") return [stdout, stderr].filter(Boolean).join("\n");
    return typeof code === "string" ? `The tool failed: ${code}.` : "The result is not repeated here.";
  }
  const texts = content.map(({ title, url, encrypted_content: encrypted }: Fields) => {
    const text = Buffer.from(String(encrypted ?? ""), "base64").toString();
    return text.startsWith("【w") ? text : `${title}\n${url}`;
  });
  const [first = ""] = texts;
  return first.startsWith("【w") ? first : texts.join("\n");
}
