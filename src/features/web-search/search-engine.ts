/** Asks the operator's search engine. */

import type { Dispatcher } from "undici";
import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { getJson, postJson } from "../../kernel/outgoing/ask-json.ts";
import { Agent } from "../../kernel/outgoing/undici.ts";
import type { UserLocation, WebPage } from "../../wire/responses/web-search.ts";
import type { WebSearchSettings } from "./settings.ts";

const MAX_CHARACTERS = 2_000;

const Results = lazy.object(() => ({
  results: z.array(
    z.object({
      url: z.string().max(4096),
      title: z.string().nullish(),
      content: z.string().nullish(),
    }),
  ),
}));

export class SearchEngine implements AsyncDisposable {
  readonly #settings: WebSearchSettings;
  readonly #dispatcher: Dispatcher = new Agent();

  constructor(settings: WebSearchSettings) {
    this.#settings = settings;
  }

  /** Returns pages with http and https addresses, as the engine orders them. Rejects when it does not answer. */
  async search(
    query: string,
    max: number,
    location: UserLocation | undefined,
    signal: AbortSignal,
  ): Promise<WebPage[]> {
    const answer = await this.#ask(query, max, location, signal);
    const read = Results.safeParse(answer);
    if (!read.success) throw new Error("its answer has no list `results` of pages with a `url`");
    const pages = read.data.results.filter(({ url }) => /^https?:$/.test(URL.parse(url)?.protocol ?? ""));
    return pages.map(({ url, title, content }) => ({
      url,
      title: (title ?? url).slice(0, 300),
      content: (content ?? "").slice(0, MAX_CHARACTERS),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher.destroy();
  }

  #ask(query: string, max: number, location: UserLocation | undefined, signal: AbortSignal): Promise<unknown> {
    const { engine, url, apiKey, timeoutSeconds } = this.#settings;
    const headers: Record<string, string> = { accept: "application/json" };
    if (apiKey !== undefined) headers.authorization = `Bearer ${apiKey.reveal()}`;
    const options = { dispatcher: this.#dispatcher, headers, timeoutMs: timeoutSeconds * 1000, signal };
    if (engine === "endpoint") {
      const body = { query, max_results: max, ...(location && { user_location: location }) };
      return postJson(url, JSON.stringify(body), options);
    }
    const address = new URL(`${url.replace(/\/+$/, "")}/search`);
    address.search = String(new URLSearchParams({ q: query, format: "json" }));
    return getJson(address.href, options);
  }
}
