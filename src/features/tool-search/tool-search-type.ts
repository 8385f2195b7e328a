/** A tool that finds deferred tools and shows them to the model. */

import { projectOf } from "../../contracts/caller.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { ItemProgress } from "../../wire/responses/item-events.ts";
import { textOfToolSearch, toSearchCall, toSearchOutput } from "../../wire/responses/tool-search.ts";
import type {
  CallOutcome,
  DeferredTool,
  DeferredTools,
  RunContext,
  ServiceCall,
  ServiceToolType,
} from "../tools/index.ts";
import { type Search, searchTools } from "./search-tools.ts";
import type { SearchWay } from "./search-worker.ts";

/** Tools that one search loads. */
const MAX_RESULTS = 5;
/** Namespaces and servers that the description names. */
const MAX_SOURCES = 50;
const MAX_SOURCE_LENGTH = 300;
const TIMEOUT_MS = 10_000;

/** The one parameter of the function, whose name is the way. */
const PARAMETERS: Readonly<Record<SearchWay, object>> = {
  query: { type: "string", description: "Words for what the tool should do" },
  pattern: { type: "string", description: "Regular expression of at most 200 characters, such as (?i)weather" },
};

export function toolSearchType(type: string, way: SearchWay): ServiceToolType {
  const parameters = {
    type: "object",
    properties: { [way]: PARAMETERS[way] },
    required: [way],
    additionalProperties: false,
  };
  return {
    type,
    isNativeElsewhere: true,
    serves: ({ execution }) => execution !== "client",
    open: async (_tool, { caller, path, deferred, functionName }) => {
      const name = functionName(type);
      const project = projectOf(caller);
      return {
        get functions() {
          const definition = { name, description: describe(deferred.tools), parameters, param: path };
          return [{ definition, name: type, begin: () => new ToolSearchCall(type, { way, project }, deferred) }];
        },
      };
    },
  };
}

/** Describes the tool by what it searches: the model does not see the names of deferred tools. */
function describe(tools: readonly DeferredTool[]): string {
  const sources = new Map<string, string>();
  for (const { namespace, namespaceDescription = "" } of tools) {
    if (namespace === undefined || sources.size >= MAX_SOURCES) continue;
    sources.set(namespace, namespaceDescription.slice(0, MAX_SOURCE_LENGTH));
  }
  const lines = [...sources].map(([name, text]) => (text === "" ? `- ${name}` : `- ${name}: ${text}`));
  const head = `Searches ${tools.length} more tools and makes those that match available. Use it before saying that no tool does what is needed.`;
  return lines.length === 0 ? head : `${head} Among them are tools of:\n${lines.join("\n")}`;
}

class ToolSearchCall implements ServiceCall {
  readonly #suffix = newId("");
  readonly #type: string;
  readonly #search: Pick<Search, "way" | "project">;
  readonly #deferred: DeferredTools;
  #input: Readonly<Record<string, unknown>> = {};
  #matches: readonly DeferredTool[] = [];
  #hasFailed = false;

  constructor(type: string, search: Pick<Search, "way" | "project">, deferred: DeferredTools) {
    this.#type = type;
    this.#search = search;
    this.#deferred = deferred;
  }

  toItem(status: "in_progress" | "completed" | "incomplete") {
    return toSearchCall(this.#suffix, this.#input, this.#hasFailed ? "incomplete" : status);
  }

  begin(): ItemProgress[] {
    return [];
  }

  append(): ItemProgress[] {
    return [];
  }

  async *run(
    input: Readonly<Record<string, unknown>>,
    { runTool }: RunContext,
  ): AsyncGenerator<ItemProgress, CallOutcome> {
    this.#input = input;
    const { [this.#search.way]: sent } = input;
    const search = { ...this.#search, text: typeof sent === "string" ? sent : "", max: MAX_RESULTS };
    const tool = { name: "tool_search", label: this.#type, timeoutMs: TIMEOUT_MS };
    const { value, failure } = await runTool(tool, (signal) => searchTools(this.#deferred.tools, search, signal));
    if (value === undefined) {
      this.#hasFailed = true;
      const reason = failure instanceof Fault ? failure.message : "See the service log for the cause.";
      return { type: "result", text: `The search failed: ${reason}` };
    }
    this.#matches = value;
    for (const match of value) this.#deferred.loadFunction(match.definition.name);
    return { type: "result", text: textOfToolSearch(value) };
  }

  following() {
    return [toSearchOutput(this.#suffix, render(this.#matches), this.#hasFailed ? "incomplete" : "completed")];
  }

  refuse(): ItemProgress[] {
    this.#hasFailed = true;
    return [];
  }
}

/** Renders the definitions that a search loaded, those of a namespace or server together. */
function render(tools: readonly DeferredTool[]) {
  const groups = Map.groupBy(tools, ({ namespace }) => namespace);
  return [...groups].flatMap(([name, members]) => {
    const sent = members.map((each) => each.sent);
    if (name === undefined) return sent;
    return [{ type: "namespace", name, description: members[0]?.namespaceDescription ?? "", tools: sent }];
  });
}
