/** The tool `file_search` of responses: the model searches vector stores of the caller's project. */

import type { Caller } from "../../contracts/caller.ts";
import { type OnDisconnect, onAbort } from "../../inference/on-disconnect.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { SearchResult } from "../../wire/openai/vector-store-search.ts";
import {
  FILE_SEARCH_PARAMETERS,
  FILE_SEARCH_RESULTS,
  FileSearchTool,
  findCitations,
  type NumberedSource,
  readQueries,
  renderResults,
  toFileSearchItem,
} from "../../wire/responses/file-search.ts";
import type { ItemProgress } from "../../wire/responses/item-events.ts";
import { type CallOutcome, type RunContext, type ServiceCall, type ServiceToolType, withPath } from "../tools/index.ts";
import type { VectorStoreParts } from "./vector-store-parts.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";
import { isStoreId } from "./vector-stores.ts";

const NAME = "file_search";
const TIMEOUT_MS = 60_000;
const DESCRIPTION =
  "Searches the user's files and returns the passages that fit best. Use it before you answer questions that these files may answer.";

/** Opens searches of one project's stores. */
export function fileSearchTool({ stores, search }: Pick<VectorStoreParts, "stores" | "search">): ServiceToolType {
  return {
    type: NAME,
    includes: [FILE_SEARCH_RESULTS],
    serves: (tool, path) => {
      const { vector_store_ids: ids } = tool as { vector_store_ids?: unknown };
      if (!Array.isArray(ids) || ids.length === 0) return true;
      const ownCount = ids.filter((id) => typeof id === "string" && isStoreId(id)).length;
      // Stores of an upstream are searched there.
      if (ownCount === 0) return false;
      if (ownCount === ids.length) return true;
      const message = "Vector stores of this service and others cannot be searched by one tool. Send a tool for each.";
      throw invalidRequest(message, `${path}.vector_store_ids`, "invalid_value");
    },
    open: async (tool, { caller, path, include, functionName }) => {
      const settings = withPath(path, () => parse(FileSearchTool, tool));
      const opened: VectorStoreRow[] = [];
      for (const [index, id] of settings.vector_store_ids.entries()) {
        const store = await stores.findActive({ projectId: caller.projectId ?? "", id }).catch((failure: unknown) => {
          if (!(failure instanceof Fault)) throw failure;
          const param = `${path}.vector_store_ids[${index}]`;
          throw new Fault(failure.kind, failure.message, { code: failure.code, param });
        });
        opened.push(store);
      }
      const sources: NumberedSource[] = [];
      const find: Find = async (current, queries, onDisconnect) => {
        const query = {
          queries,
          rewritesQuery: false,
          max: settings.max_num_results,
          filter: settings.filters,
          ranking: settings.ranking_options,
        };
        const { results } = await search.search(current, opened, query, onDisconnect);
        const first = sources.length + 1;
        const added = results.map(({ fileId, filename }, index) => ({ number: first + index, fileId, filename }));
        sources.push(...added);
        return { results, sources: added, text: renderResults(results, first) };
      };
      const showsResults = include.includes(FILE_SEARCH_RESULTS);
      const definition = { name: functionName(NAME), description: DESCRIPTION, parameters: FILE_SEARCH_PARAMETERS };
      return {
        functions: [
          {
            definition: { ...definition, param: path },
            name: NAME,
            begin: () => new FileSearchCall(find, showsResults, search.price),
          },
        ],
        annotate: (text) => findCitations(text, sources),
      };
    },
  };
}

type Find = (
  caller: Caller,
  queries: readonly string[],
  onDisconnect: OnDisconnect,
) => Promise<{
  results: readonly SearchResult[];
  /** Source of each result, as citations name it. */
  sources: readonly NumberedSource[];
  text: string;
}>;

class FileSearchCall implements ServiceCall {
  readonly #id = newId("fs_");
  readonly #find: Find;
  readonly #showsResults: boolean;
  readonly #price: string | undefined;
  #queries: readonly string[] = [];
  #results: readonly SearchResult[] | undefined;
  #hasFailed = false;

  constructor(find: Find, showsResults: boolean, price: string | undefined) {
    this.#find = find;
    this.#price = price;
    this.#showsResults = showsResults;
  }

  toItem(status: "in_progress" | "completed" | "incomplete") {
    const shown = status === "completed" && this.#hasFailed ? "failed" : status;
    return toFileSearchItem(this.#id, shown, this.#queries, this.#showsResults ? this.#results : undefined);
  }

  begin(): ItemProgress[] {
    return [{ type: "response.file_search_call.in_progress" }];
  }

  append(): ItemProgress[] {
    return [];
  }

  async *run(
    input: Readonly<Record<string, unknown>>,
    { caller, runTool, guardResult }: RunContext,
  ): AsyncGenerator<ItemProgress, CallOutcome> {
    const queries = readQueries(input);
    if (queries === undefined) {
      this.#hasFailed = true;
      return { type: "result", text: "The search did not run: `queries` must be a list of one to 16 texts." };
    }
    this.#queries = queries;
    yield { type: "response.file_search_call.searching" };
    const tool = { name: NAME, label: NAME, timeoutMs: TIMEOUT_MS, pricePerCall: this.#price };
    const { value, failure } = await runTool(tool, async (signal) => {
      const { results, text, sources } = await this.#find(caller, queries, onAbort(signal));
      if (guardResult === undefined) return { results, text };
      const parts = results.flatMap((each) => [each.text, each.filename, JSON.stringify(each.attributes ?? {})]);
      const [guarded = "", ...others] = await guardResult([text, ...parts]);
      const shown = results.map((each, index) => {
        const [passage = "", filename = "", attributes = ""] = others.slice(3 * index);
        return { ...each, text: passage, filename, attributes: each.attributes && toAttributes(attributes) };
      });
      for (const [index, source] of sources.entries()) source.filename = shown[index]?.filename ?? "";
      return { text: guarded, results: shown };
    });
    if (value === undefined) {
      this.#hasFailed = true;
      const reason = failure instanceof Fault ? failure.message : "an internal error.";
      return { type: "result", text: `The search failed: ${reason}` };
    }
    this.#results = value.results;
    yield { type: "response.file_search_call.completed" };
    return { type: "result", text: value.text };
  }

  refuse(): ItemProgress[] {
    this.#hasFailed = true;
    return [];
  }
}

function toAttributes(text: string): SearchResult["attributes"] {
  return (parseObject(text) ?? null) as SearchResult["attributes"];
}
