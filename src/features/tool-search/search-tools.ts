/** Finds deferred tools, in a thread that ends with the call: what a model writes may be slow to match. */

import { extname } from "node:path";
import { invalidRequest } from "../../kernel/faults.ts";
import { ThreadPool } from "../../kernel/process/thread-pool.ts";
import type { DeferredTool } from "../tools/index.ts";
import type { SearchTask, SearchWay } from "./search-worker.ts";

/** Characters of a tool that are searched. */
const MAX_TEXT = 2000;
/** Characters of a query; that of a pattern is Anthropic's. */
const MAX_LENGTH: Readonly<Record<SearchWay, number>> = { query: 1000, pattern: 200 };

const entry = new URL(`./search-worker${extname(new URL(import.meta.url).pathname)}`, import.meta.url);
const pool = new ThreadPool<SearchTask, number[] | undefined>(entry);

export interface Search {
  way: SearchWay;
  /** Words, or a regular expression. */
  text: string;
  max: number;
  /** Project that searches. */
  project: string;
}

/**
 * Ranks by words, best first, or returns the first tools that a pattern matches. Throws a Fault for a text that is too
 * long or not a pattern. An abort of the signal ends the search, also while it matches.
 */
export async function searchTools(
  tools: readonly DeferredTool[],
  { way, text, max, project }: Search,
  signal: AbortSignal,
): Promise<DeferredTool[]> {
  const maxLength = MAX_LENGTH[way];
  if (text.length > maxLength) {
    const message = `\`${way}\` may have ${maxLength.toLocaleString("en")} characters.`;
    throw invalidRequest(message, way, "string_above_max_length");
  }
  const searched = tools.map((tool) => ({ name: tool.name, text: textOf(tool) }));
  const indexes = await pool.run({ way, text, max, tools: searched }, { project, signal });
  if (indexes !== undefined) return indexes.map((index) => tools[index] as DeferredTool);
  const message =
    "`pattern` is not a regular expression, or it looks around, refers back or repeats something more than 1,000 times.";
  throw invalidRequest(message, "pattern", "invalid_value");
}

function textOf({ namespace = "", namespaceDescription = "", definition }: DeferredTool): string {
  const { properties = {} } = (definition.parameters ?? {}) as { properties?: Record<string, unknown> };
  const parameters = Object.entries(properties).map(([name, value]) => {
    const { description } = (value ?? {}) as { description?: unknown };
    return typeof description === "string" ? `${name}: ${description}` : name;
  });
  return [namespace, definition.description ?? "", ...parameters, namespaceDescription].join("\n").slice(0, MAX_TEXT);
}
