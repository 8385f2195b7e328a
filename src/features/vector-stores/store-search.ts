/** Searches in vector stores: rewrites and embeds the query, ranks chunks by vectors and terms, and reranks the best. */

import type { Caller } from "../../contracts/caller.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import type { Inference } from "../../inference/inference.ts";
import { type OnDisconnect, onAbort } from "../../inference/on-disconnect.ts";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { termsOf } from "../../kernel/keywords/terms.ts";
import type { Database } from "../../storage/database.ts";
import type { AttributeFilter } from "../../wire/openai/attribute-filters.ts";
import type { RankingOptions, SearchResult } from "../../wire/openai/vector-store-search.ts";
import { embedTexts } from "./embed-texts.ts";
import type { IndexMatch } from "./index/store-index.ts";
import type { SearchableStores } from "./searchable-stores.ts";
import type { VectorStoreSettings } from "./settings.ts";
import { findAdditions, readTexts } from "./store-file-queries.ts";
import type { StoredSegments } from "./stored-segments.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";
import type { VectorStores } from "./vector-stores.ts";

export interface StoreSearchOptions extends Pick<VectorStoreSettings, "reranker" | "queryRewriter"> {
  database: Database;
  inference: Pick<Inference, "embed" | "rerank" | "chat" | "runTool">;
  /** US dollars per search; undefined: no price. */
  price: () => string | undefined;
  stores: VectorStores;
  searchable: SearchableStores;
  segments: StoredSegments;
}

export interface StoreQuery {
  queries: readonly string[];
  rewritesQuery: boolean;
  max: number;
  filter: AttributeFilter | undefined;
  ranking: RankingOptions | undefined;
}

interface SearchOutcome {
  queries: readonly string[];
  results: SearchResult[];
}

interface Match extends IndexMatch {
  store: VectorStoreRow;
}

/** Weights of the two rankings unless the search has others; measured in decision 0072. */
const WEIGHTS = { embedding_weight: 1, text_weight: 1 };
/** Rankers that are no models. */
const RANKERS: ReadonlySet<string> = new Set(["auto", "default-2024-11-15", "none"]);
/** Chunks that a reranker reads. */
const RERANKED = 50;
const REWRITER =
  "Rewrite the user's message as one short query for a search engine: keep names, numbers and technical terms, and leave out greetings and filler words. Answer with the query alone.";
const REWRITTEN_TOKENS = 100;
/** What usage records name in place of a model. */
const NAME = "vector_store_search";
const TIMEOUT_MS = MINUTE_MS;

export class StoreSearch {
  readonly #options: StoreSearchOptions;

  constructor(options: StoreSearchOptions) {
    this.#options = options;
  }

  /** Price of a search by a tool. */
  get price(): string | undefined {
    return this.#options.price();
  }

  /** Searches for a request of its caller, who pays for the search if it has a price. Throws a Fault. */
  async searchAtPrice(...request: Parameters<StoreSearch["search"]>): Promise<SearchOutcome> {
    if (this.price === undefined) return await this.search(...request);
    const [caller, stores, query, onDisconnect] = request;
    const tool = { name: NAME, label: NAME, timeoutMs: TIMEOUT_MS, pricePerCall: this.price };
    const { inference } = this.#options;
    const { value, failure } = await inference.runTool(caller, tool, onDisconnect, (signal) =>
      this.search(caller, stores, query, onAbort(signal)),
    );
    if (value === undefined) throw failure;
    return value;
  }

  /** Searches stores of the caller's project. Throws a Fault. */
  async search(
    caller: Caller,
    stores: readonly VectorStoreRow[],
    query: StoreQuery,
    onDisconnect: OnDisconnect,
  ): Promise<SearchOutcome> {
    const { rewritesQuery, max, ranking } = query;
    const reranker = this.#rerankerOf(ranking);
    const queries = rewritesQuery ? await this.#rewrite(caller, query.queries, onDisconnect) : query.queries;
    const count = reranker === undefined ? max : Math.max(max, RERANKED);
    const matches = await this.#match(caller, stores, { ...query, queries, max: count }, onDisconnect);
    const results = await this.#toResults(matches);
    for (const store of stores) await this.#options.stores.markActive(store);
    const ranked =
      reranker === undefined ? results : await this.#rerank(caller, reranker, queries, results, onDisconnect);
    const threshold = ranking?.score_threshold ?? 0;
    return { queries, results: ranked.filter(({ score }) => score >= threshold).slice(0, max) };
  }

  /** The best matches of all stores and queries; a chunk that several queries find counts once, with its best score. */
  async #match(
    caller: Caller,
    stores: readonly VectorStoreRow[],
    { queries, filter, max, ranking }: StoreQuery,
    onDisconnect: OnDisconnect,
  ): Promise<Match[]> {
    const { embedding_weight: embedding, text_weight: text } = ranking?.hybrid_search ?? WEIGHTS;
    const vectors = new Map<string, readonly Float32Array[]>();
    const best = new Map<string, Match>();
    const keep = (match: Match) => {
      const key = `${match.addition} ${match.position} ${match.chunk}`;
      if ((best.get(key)?.score ?? -1) < match.score) best.set(key, match);
    };
    for (const store of stores) {
      const model = store.embeddingModel;
      const ofModel = vectors.get(model) ?? (await this.#embed(caller, model, queries, onDisconnect));
      vectors.set(model, ofModel);
      for (const [index, query] of queries.entries()) {
        const vector = ofModel[index] as Float32Array;
        if (store.dimensions !== null && vector.length !== store.dimensions)
          throw otherDimensions(store, vector.length);
        const question = { vector, terms: termsOf(query), filter, max, weights: { embedding, text } };
        for (const match of await this.#options.searchable.search(store, question)) keep({ ...match, store });
      }
    }
    return [...best.values()].sort((a, b) => b.score - a.score).slice(0, max);
  }

  async #embed(
    caller: Caller,
    model: string,
    texts: readonly string[],
    onDisconnect: OnDisconnect,
  ): Promise<Float32Array[]> {
    const { inference } = this.#options;
    const { values, dimensions } = await embedTexts(inference, caller, { model, texts }, onDisconnect);
    return texts.map((_, index) => Float32Array.from(values.subarray(index * dimensions, (index + 1) * dimensions)));
  }

  /** Reads the texts of matches. One whose file was removed meanwhile is left out. */
  async #toResults(matches: readonly Match[]): Promise<SearchResult[]> {
    const { database, segments } = this.#options;
    const texts = new Map<string, readonly string[]>();
    for (const [addition, ofFile] of Map.groupBy(matches, (match) => match.addition)) {
      const positions = [...new Set(ofFile.map(({ position }) => position))];
      const rows = await database.run((executor) => readTexts(executor, addition, positions));
      for (const row of rows) texts.set(`${addition} ${row.position}`, segments.openTexts(addition, row));
    }
    const files = new Map<string, Awaited<ReturnType<typeof findAdditions>>[number]>();
    for (const [store, ofStore] of Map.groupBy(matches, (match) => match.store.id)) {
      const additions = [...new Set(ofStore.map(({ addition }) => addition))];
      const rows = await database.run((executor) => findAdditions(executor, store, additions));
      for (const row of rows) files.set(row.additionId, row);
    }
    return matches.flatMap(({ addition, position, chunk, score }) => {
      const file = files.get(addition);
      const text = texts.get(`${addition} ${position}`)?.[chunk];
      if (file === undefined || text === undefined) return [];
      const attributes = file.attributes === null ? null : JSON.parse(file.attributes);
      return [{ fileId: file.id, filename: file.filename, score, attributes, text }];
    });
  }

  async #rerank(
    caller: Caller,
    model: string,
    queries: readonly string[],
    results: readonly SearchResult[],
    onDisconnect: OnDisconnect,
  ): Promise<SearchResult[]> {
    if (results.length === 0) return [];
    const question = { model, query: queries.join("\n"), documents: results.map(({ text }) => text) };
    const answer = await this.#options.inference.rerank(caller, question, onDisconnect);
    const [ranking] = await Array.fromAsync(answer.events);
    if (ranking === undefined) throw new Error(`${answer.deployment} returned no scores`);
    const scored = results.map((result, index) => ({ ...result, score: toUnit(ranking.scores[index] ?? 0) }));
    return scored.sort((a, b) => b.score - a.score);
  }

  async #rewrite(caller: Caller, queries: readonly string[], onDisconnect: OnDisconnect): Promise<readonly string[]> {
    const { queryRewriter: model, inference } = this.#options;
    if (model === undefined) {
      const message =
        "This service rewrites no queries. Send the query as it is to be searched, or ask the operator to set vector_stores.query_rewriter.";
      throw invalidRequest(message, "rewrite_query", "unsupported_value");
    }
    const rewritten: string[] = [];
    for (const query of queries) {
      const messages = [
        { role: "system" as const, content: REWRITER },
        { role: "user" as const, content: query },
      ];
      const request = { ...DEFAULT_CHAT_REQUEST, model, messages, temperature: 0, maxTokens: REWRITTEN_TOKENS };
      const moderationInput = () => ({ texts: [query], unmoderatable: undefined });
      const answer = await inference.chat(
        caller,
        { request, moderationInput },
        { moderation: undefined, onDisconnect },
      );
      let text = "";
      for await (const event of answer.events) if (event.type === "text") text += event.text;
      rewritten.push(text.trim() || query);
    }
    return rewritten;
  }

  #rerankerOf(ranking: RankingOptions | undefined): string | undefined {
    const ranker = ranking?.ranker ?? "auto";
    if (!RANKERS.has(ranker)) return ranker;
    return ranker === "none" ? undefined : this.#options.reranker;
  }
}

function toUnit(score: number): number {
  return Math.min(1, Math.max(0, score));
}

function otherDimensions({ embeddingModel, dimensions }: VectorStoreRow, actual: number) {
  const message = `The model '${embeddingModel}' now returns vectors of ${actual} dimensions; those of the store have ${dimensions}. Create another store.`;
  return invalidRequest(message, "vector_store_id");
}
