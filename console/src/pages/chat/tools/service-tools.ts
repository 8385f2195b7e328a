import type { Parameters } from "../conversation.ts";

/** Call of a tool that the service ran within an answer. */
export interface ServiceCall {
  id: string;
  /** Type of its item, such as `file_search_call`. */
  type: string;
  status: string;
  /** What was searched for. */
  queries: string[];
  results: { title: string; text: string; score?: number }[];
  error?: string;
}

/** Source of a part of an answer. */
export interface Citation {
  title: string;
  /** Address of a page; left out for a file. */
  url?: string;
}

/** Whether the service runs tools for an answer, which the Responses API does. */
export function usesServiceTools({ vectorStores = [], webSearch = false }: Parameters): boolean {
  return vectorStores.length > 0 || webSearch;
}

/** Reads an output item of a response; undefined for one of another kind. */
export function toServiceCall(item: Readonly<Record<string, unknown>>): ServiceCall | undefined {
  const { id, type, status, queries, results, action, error, name } = item as {
    id: string;
    type: string;
    status?: string;
    queries?: string[];
    results?: { filename: string; text: string; score: number }[] | null;
    action?: { query?: string; sources?: { url: string }[] };
    error?: unknown;
    name?: string;
  };
  const common = { id, type, status: status ?? "completed", ...(error != null && { error: messageOf(error) }) };
  switch (type) {
    case "file_search_call": {
      const matches = (results ?? []).map(({ filename, text, score }) => ({ title: filename, text, score }));
      return { ...common, queries: queries ?? [], results: matches };
    }
    case "web_search_call": {
      const sources = (action?.sources ?? []).map(({ url }) => ({ title: url, text: "" }));
      return { ...common, queries: action?.query === undefined ? [] : [action.query], results: sources };
    }
    case "mcp_call":
      return { ...common, queries: [name ?? ""], results: [{ title: "", text: String(item.output ?? "") }] };
    default:
      return undefined;
  }
}

/** Reads an annotation of a text; undefined for one without a source. */
export function toCitation(annotation: Readonly<Record<string, unknown>>): Citation | undefined {
  const { type, filename, url, title } = annotation;
  if (type === "file_citation" && typeof filename === "string") return { title: filename };
  if (type !== "url_citation" || typeof url !== "string" || !/^https?:\/\//.test(url)) return undefined;
  return { title: typeof title === "string" && title !== "" ? title : url, url };
}

function messageOf(error: unknown): string {
  const { message } = error as { message?: unknown };
  return typeof message === "string" ? message : String(error);
}

/** Returns a text without the marks of its sources, such as `【1】`, which are listed below it. */
export function withoutMarks(text: string): string {
  return text.replace(/【[^】]{0,40}】/g, "");
}
