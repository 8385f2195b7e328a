/** The tool `web_search` of responses, through the operator's search engine. */

import { isRefusal } from "../../inference/guardrails/guard-tool.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { Logger } from "../../kernel/logger.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { ItemProgress } from "../../wire/responses/item-events.ts";
import {
  findWebCitations,
  isAtDomain,
  RESULTS_BY_SIZE,
  readQuery,
  renderPages,
  toWebSearchItem,
  type UserLocation,
  WEB_SEARCH_PARAMETERS,
  WEB_SEARCH_SOURCES,
  type WebPage,
  WebSearchTool,
} from "../../wire/responses/web-search.ts";
import { type CallOutcome, type RunContext, type ServiceCall, type ServiceToolType, withPath } from "../tools/index.ts";
import type { SearchEngine } from "./search-engine.ts";
import type { WebSearchSettings } from "./settings.ts";

const NAME = "web_search";
/** An engine that filters by domain itself is unusual. */
const FETCHED_FOR_DOMAINS = 50;

export interface WebSearchOptions extends Pick<WebSearchSettings, "pricePerCall" | "timeoutSeconds"> {
  engine: Pick<SearchEngine, "search">;
  logger: Logger;
}

export function webSearchTool(type: string, options: WebSearchOptions): ServiceToolType {
  return {
    type,
    includes: [WEB_SEARCH_SOURCES],
    serves: () => true,
    open: async (tool, { path, include, functionName }) => {
      const settings = withPath(path, () => parse(WebSearchTool, tool));
      const { user_location, filters } = settings;
      const domains = filters?.allowed_domains ?? [];
      const blocked = filters?.blocked_domains ?? [];
      const mayShow = (page: WebPage) =>
        (domains.length === 0 || isAtDomain(page, domains)) && !isAtDomain(page, blocked);
      const max = RESULTS_BY_SIZE[settings.search_context_size];
      const cited: WebPage[] = [];
      const find: Find = async (query, location, signal) => {
        const fetched = domains.length + blocked.length > 0 ? FETCHED_FOR_DOMAINS : max;
        const pages = await options.engine.search(query, fetched, location, signal);
        const shown = pages
          .filter(mayShow)
          .slice(0, max)
          .map((page) => ({ ...page }));
        const first = cited.length + 1;
        cited.push(...shown);
        return { pages: shown, text: renderPages(shown, first) };
      };
      const showsSources = include.includes(WEB_SEARCH_SOURCES);
      const description = `Searches the web and returns excerpts of pages with their addresses.${placeOf(user_location)}`;
      const definition = { name: functionName(NAME), description, parameters: WEB_SEARCH_PARAMETERS, param: path };
      const begin = () => new WebSearchCall(find, showsSources, options, { ...(user_location && { user_location }) });
      return { functions: [{ definition, name: NAME, begin }], annotate: (text) => findWebCitations(text, cited) };
    },
  };
}

function placeOf(location: UserLocation | undefined): string {
  const { city, region, country, timezone } = location ?? {};
  const names = [city, region, country, timezone].filter((name) => name !== undefined);
  return names.length === 0 ? "" : ` The user is in or near: ${names.join(", ")}.`;
}

type Find = (
  query: string,
  location: UserLocation | undefined,
  signal: AbortSignal,
) => Promise<{ pages: WebPage[]; text: string }>;

/** What the engine gets beside the query. */
interface SearchSettings extends Readonly<Record<string, unknown>> {
  user_location?: UserLocation;
}

class WebSearchCall implements ServiceCall {
  readonly settings: SearchSettings;
  readonly #id = newId("ws_");
  readonly #find: Find;
  readonly #showsSources: boolean;
  readonly #options: WebSearchOptions;
  #query = "";
  #pages: readonly WebPage[] | undefined;
  #hasFailed = false;

  constructor(find: Find, showsSources: boolean, options: WebSearchOptions, settings: SearchSettings) {
    this.settings = settings;
    this.#find = find;
    this.#showsSources = showsSources;
    this.#options = options;
  }

  toItem(status: "in_progress" | "completed" | "incomplete") {
    const shown = status === "in_progress" ? status : status === "completed" && !this.#hasFailed ? status : "failed";
    return toWebSearchItem(this.#id, shown, this.#query, this.#showsSources ? this.#pages : undefined);
  }

  begin(): ItemProgress[] {
    return [{ type: "response.web_search_call.in_progress" }];
  }

  append(): ItemProgress[] {
    return [];
  }

  async *run(
    input: Readonly<Record<string, unknown>>,
    { runTool, guardResult, settings }: RunContext,
  ): AsyncGenerator<ItemProgress, CallOutcome> {
    const query = readQuery(input);
    if (query === undefined) {
      this.#hasFailed = true;
      return { type: "result", text: "The search did not run: `query` must be a text of at most 1,000 characters." };
    }
    this.#query = query;
    yield { type: "response.web_search_call.searching" };
    const { pricePerCall, timeoutSeconds, logger } = this.#options;
    const tool = { name: NAME, label: NAME, timeoutMs: timeoutSeconds * 1000, pricePerCall };
    const { user_location: location } = settings as SearchSettings;
    const { value, failure } = await runTool(tool, async (signal) => {
      const { pages, text } = await this.#find(query, location, signal);
      if (guardResult === undefined) return { pages, text };
      // Citations have the title and address of a page.
      const guarded = await guardResult([text, ...pages.flatMap(({ title, url }) => [title, url])]);
      for (const [index, page] of pages.entries()) {
        page.title = guarded[1 + 2 * index] ?? "";
        page.url = guarded[2 + 2 * index] ?? "";
      }
      return { pages, text: guarded[0] ?? "" };
    });
    if (value === undefined) {
      this.#hasFailed = true;
      // The address of the engine is the operator's.
      if (!isRefusal(failure)) logger.warn({ err: failure }, "the search engine of web_search failed");
      const reason = failure instanceof Fault ? failure.message : "The search engine does not answer.";
      return { type: "result", text: `The search failed: ${reason}` };
    }
    this.#pages = value.pages;
    yield { type: "response.web_search_call.completed" };
    return { type: "result", text: value.text };
  }

  refuse(): ItemProgress[] {
    this.#hasFailed = true;
    return [];
  }
}
