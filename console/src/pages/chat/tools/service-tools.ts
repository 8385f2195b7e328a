import type { Answers } from "../../../api/answers.ts";
import { urlOf } from "../../../api/request.ts";
import type { Parameters } from "../conversation.ts";

/** A tool of an MCP server. */
export interface McpToolName {
  server: string;
  tool: string;
}

/** A decision about a call that waits for one. */
export interface Approval extends McpToolName {
  /** ID of the request for it. */
  id: string;
  approve: boolean;
}

/** Call of a tool that the service ran within an answer, or asks to run. */
export interface ServiceCall {
  id: string;
  /** Type of its item, such as `file_search_call`. */
  type: string;
  status: string;
  /** What was searched for, or drawn. */
  queries: string[];
  results: { title: string; text: string; score?: number }[];
  error?: string;
  /** Tool of a call over MCP. */
  mcp?: McpToolName;
  /** Arguments as JSON, or code. */
  input?: string;
  /** Data URLs. */
  images?: string[];
  /** Container of code. */
  container?: string;
  /** ID of the request that was approved. */
  approvalId?: string;
}

/** Source of a part of an answer. */
export interface Citation {
  title: string;
  /** Address of a page, or of a file to download; left out for a file of a store. */
  url?: string;
  isDownload?: boolean;
}

/** Whether the service runs tools for an answer, which the Responses API does. */
export function usesServiceTools(parameters: Parameters): boolean {
  const { vectorStores = [], mcpServers = [], webSearch, codeInterpreter, imageGeneration } = parameters;
  return vectorStores.length + mcpServers.length > 0 || [webSearch, codeInterpreter, imageGeneration].includes(true);
}

/** Longer results are cut: the browser stores the conversation, and the next request sends it. */
const MAX_RESULT_CHARACTERS = 50_000;
const IMAGE_TYPES: Readonly<Record<string, string>> = { jpeg: "image/jpeg", webp: "image/webp" };

/** Reads an output item of a response; undefined for one of another kind. */
export function toServiceCall(output: Readonly<Record<string, unknown>>): ServiceCall | undefined {
  const item = output as unknown as Answers["ResponseOutputItem"];
  const { id, type, status } = item;
  const error = "error" in item ? item.error : undefined;
  const common = { id, type, status: status ?? "completed", ...(error != null && { error: messageOf(error) }) };
  const details = detailsOf(item);
  return details && { ...common, ...details };
}

function detailsOf(item: Answers["ResponseOutputItem"]): Omit<ServiceCall, "id" | "type" | "status"> | undefined {
  switch (item.type) {
    case "file_search_call": {
      const matches = (item.results ?? []).map(({ filename, text, score }) => ({ title: filename, text, score }));
      return { queries: item.queries, results: matches };
    }
    case "web_search_call": {
      const { query, sources = [] } = item.action;
      const results = sources.map(({ url }) => ({ title: url, text: "" }));
      return { queries: query === undefined ? [] : [query], results };
    }
    case "mcp_call": {
      const texts = typeof item.output === "string" ? [{ title: "", text: cut(item.output) }] : [];
      const call = { ...mcpOf(item), queries: [], results: texts };
      return item.approval_request_id == null ? call : { ...call, approvalId: item.approval_request_id };
    }
    case "mcp_approval_request":
      return { ...mcpOf(item), queries: [], results: [] };
    case "code_interpreter_call": {
      const outputs = item.outputs ?? [];
      const logs = outputs.flatMap((each) => (each.type === "logs" ? [{ title: "", text: cut(each.logs) }] : []));
      const images = outputs.flatMap((each) => (each.type === "image" ? [each.url] : []));
      const { code, container_id: container } = item;
      return { queries: [], results: logs, images: images.filter(isImage), input: code ?? "", container };
    }
    case "image_generation_call": {
      const { result, output_format: format = "png", revised_prompt: prompt } = item;
      const images = result == null ? [] : [`data:${IMAGE_TYPES[format] ?? "image/png"};base64,${result}`];
      return { queries: prompt == null ? [] : [prompt], results: [], images };
    }
    default:
      return undefined;
  }
}

function mcpOf({
  server_label: server,
  name: tool,
  arguments: input,
}: Answers["ResponseMcpApprovalRequest"] | Answers["ResponseMcpCall"]) {
  return { mcp: { server, tool }, input };
}

/** The item of a call as a later request sends it; undefined for one that the model does not need again. */
export function toSentItem(call: ServiceCall): object | undefined {
  const { id, type, status, mcp, input = "", results, error, container, approvalId, images = [], queries } = call;
  const output = results.map(({ text }) => text).join("\n");
  switch (type) {
    case "mcp_approval_request":
      return { id, type, server_label: mcp?.server, name: mcp?.tool, arguments: input };
    case "mcp_call": {
      const { server: server_label, tool: name } = mcp ?? {};
      // One that broke off has nothing to tell.
      if (status !== "completed" && status !== "failed") return undefined;
      const end = error === undefined ? { output } : { error };
      return { id, type, server_label, name, arguments: input, approval_request_id: approvalId ?? null, ...end };
    }
    case "code_interpreter_call":
      return { id, type, status, code: input, container_id: container, outputs: [{ type: "logs", logs: output }] };
    case "image_generation_call": {
      const result = images[0]?.split(",")[1] ?? null;
      return { id, type, status, result, revised_prompt: queries[0] ?? "" };
    }
    default:
      return undefined;
  }
}

/** Requests for approval that an answer ends with. */
export function waitingCalls(calls: readonly ServiceCall[] = []): ServiceCall[] {
  return calls.filter(isRequest);
}

export function withoutWaiting(calls: readonly ServiceCall[]): ServiceCall[] {
  return calls.filter((call) => !isRequest(call));
}

function isRequest({ type }: ServiceCall): boolean {
  return type === "mcp_approval_request";
}

/** Reads an annotation of a text; undefined for one without a source. */
export function toCitation(annotation: Readonly<Record<string, unknown>>): Citation | undefined {
  const { type, filename, url, title, container_id: container, file_id: file } = annotation;
  if (type === "file_citation" && typeof filename === "string") return { title: filename };
  if (type === "container_file_citation" && typeof filename === "string") {
    const [of, id] = [container, file].map((each) => encodeURIComponent(String(each)));
    return { title: filename, url: urlOf(`v1/containers/${of}/files/${id}/content`), isDownload: true };
  }
  if (type !== "url_citation" || typeof url !== "string" || !/^https?:\/\//.test(url)) return undefined;
  return { title: typeof title === "string" && title !== "" ? title : url, url };
}

function isImage(url: string): boolean {
  return /^data:image\/(png|jpeg|gif|webp);base64,/.test(url);
}

function cut(text: string): string {
  return text.length <= MAX_RESULT_CHARACTERS ? text : `${text.slice(0, MAX_RESULT_CHARACTERS)}…`;
}

/** The error is a text, or one of the types of OpenAI's API. */
function messageOf(error: unknown): string {
  const { message, content } = error as { message?: unknown; content?: { text?: string }[] };
  if (typeof message === "string") return message;
  if (Array.isArray(content)) return cut(content.map(({ text = "" }) => text).join("\n"));
  return String(error);
}

/** Returns a text without the marks of its sources, such as `【1】`, which are listed below it. */
export function withoutMarks(text: string): string {
  return text.replace(/【[^】]{0,40}】/g, "");
}
