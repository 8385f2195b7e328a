/** Content of requests that projects record and callers store: read, searched, written and removed. */

import type { RequestEntry } from "../../http/request-entry.ts";
import { turns } from "../../kernel/async/turns.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import type { Database } from "../../storage/database.ts";
import type { RequestFilter } from "../usage/index.ts";
import type { ContentSizes } from "./content-sizes.ts";
import type { ContentWriter } from "./content-writer.ts";
import { type ContentSelection, listContents } from "./list-contents.ts";
import { matchesFilter } from "./matches-filter.ts";
import {
  findContent,
  isRecorded,
  listProjectsWithContent,
  type RemovedBy,
  removeContents,
} from "./recorded-content-queries.ts";
import { openComment } from "./sealed-comment.ts";
import type { CompletionFields, SealedContents, StoredContent } from "./sealed-content.ts";
import { parseSearch, type Search } from "./search.ts";
import type { SearchTokens } from "./search-tokens.ts";
import type { StoredCompletions } from "./stored-completions.ts";

export interface RecordedContentsOptions {
  keyring: Keyring;
  database: Database;
  sealed: SealedContents;
  tokens: SearchTokens;
  sizes: ContentSizes;
  writer: ContentWriter;
  /** Undefined: callers store nothing. */
  completions: StoredCompletions | undefined;
}

export interface FoundContent extends StoredContent {
  number: number;
  /** Of its JSON. */
  bytes: number;
}

interface ReadOptions {
  order: "asc" | "desc";
  /** Number of the last content before. */
  after?: number | undefined;
  /** Only what has its words. */
  search?: Search | undefined;
  /** Only chat completions that callers stored. */
  isCompletion?: boolean;
  signal: AbortSignal;
}

export interface SearchPage {
  entries: RequestEntry[];
  /** Number after which the next page begins; undefined at the end. */
  next: number | undefined;
}

/** Rows that one search or one query of an export decrypts. */
const ROWS_AT_ONCE = 50;
const MAX_EXAMINED = 1000;
const REMOVED_AT_ONCE = 200;

export class RecordedContents {
  readonly keyring: Keyring;
  readonly sealed: SealedContents;
  readonly sizes: ContentSizes;
  readonly writer: ContentWriter;
  readonly completions: StoredCompletions | undefined;
  readonly #options: RecordedContentsOptions;

  constructor(options: RecordedContentsOptions) {
    this.#options = options;
    this.keyring = options.keyring;
    this.sealed = options.sealed;
    this.sizes = options.sizes;
    this.writer = options.writer;
    this.completions = options.completions;
  }

  /** Undefined: nothing is recorded of the request. Throws a Fault for content without its key. */
  async find(organizationId: string, id: string): Promise<StoredContent | undefined> {
    const { database, sealed, writer } = this.#options;
    await writer.flush();
    const row = await database.run((executor) => findContent(executor, organizationId, id));
    return row && sealed.open(row, row.content);
  }

  /**
   * Finds requests by the words of their content, newest first. A page may be short although others follow. Throws the
   * signal's reason once that aborts.
   */
  async search(
    filter: RequestFilter,
    text: string,
    { after, limit, signal }: { after: number | undefined; limit: number; signal: AbortSignal },
  ): Promise<SearchPage> {
    const search = parseSearch(text);
    const entries: RequestEntry[] = [];
    let examined = 0;
    let last = after;
    for await (const content of this.read(filter, { order: "desc", after, search, signal })) {
      examined += 1;
      last = content.number;
      if (search.matches(content)) entries.push(content.entry);
      if (entries.length >= limit || examined >= MAX_EXAMINED) return { entries, next: last };
    }
    return { entries, next: undefined };
  }

  /** Yields chat completions that callers stored, newest first; otherwise like `read`. */
  async *readCompletions(
    filter: RequestFilter,
    signal: AbortSignal,
  ): AsyncGenerator<StoredContent & { completion: CompletionFields }, void> {
    for await (const content of this.read(filter, { order: "desc", isCompletion: true, signal })) {
      const { completion } = content;
      if (completion !== undefined) yield { ...content, completion };
    }
  }

  /**
   * Yields content that a filter matches. Skips what cannot be decrypted. Throws the signal's reason once that aborts,
   * also where nothing matches.
   */
  async *read(
    filter: RequestFilter,
    { order, after, search, isCompletion = false, signal }: ReadOptions,
  ): AsyncGenerator<FoundContent, void> {
    const { database, sealed, tokens, writer } = this.#options;
    const turn = turns(signal);
    await writer.flush();
    const projectIds = await this.#projectsOf(filter);
    const words = search && projectIds.flatMap((projectId) => tokens.queries(projectId, search.words));
    let position = after;
    for (;;) {
      const { organizationId, from, until } = filter;
      const selection: ContentSelection = {
        ...{ organizationId, projectIds, from, until, order, after: position, limit: ROWS_AT_ONCE, tokens: words },
        isCompletion,
      };
      const { rows, next } = await database.run((executor) => listContents(executor, database.kind, selection));
      for (const { number, content: sealedContent, ...place } of rows) {
        await turn();
        const { content, bytes = 0 } = sealed.tryMeasure(place, sealedContent) ?? {};
        if (content !== undefined && matchesFilter(content.entry, filter)) yield { ...content, number, bytes };
      }
      if (next === undefined) return;
      position = next;
    }
  }

  /** Decrypts the comment of feedback; null without its key. */
  openComment(requestId: string, comment: Buffer): string | null {
    return openComment(this.keyring, requestId, comment);
  }

  /** Whether content of the request is recorded. */
  async has(id: string): Promise<boolean> {
    await this.#options.writer.flush();
    return this.#options.database.run((executor) => isRecorded(executor, id));
  }

  /** Removes content and returns the number of requests. */
  async remove(by: RemovedBy): Promise<number> {
    const { database, writer } = this.#options;
    await writer.flush();
    let removed = 0;
    for (;;) {
      const { count } = await database.transaction((executor) =>
        removeContents(executor, database.kind, by, REMOVED_AT_ONCE),
      );
      removed += count;
      if (count < REMOVED_AT_ONCE) return removed;
    }
  }

  async #projectsOf({ organizationId, projectIds, visibility }: RequestFilter): Promise<string[]> {
    const all = await this.#options.database.run((executor) => listProjectsWithContent(executor, organizationId));
    const isWithin = (list: readonly string[] | undefined, id: string) => list === undefined || list.includes(id);
    return all.filter((id) => isWithin(projectIds, id) && isWithin(visibility?.projectIds, id));
  }
}

declare module "../../storage/personal-data.ts" {
  interface PersonalContext {
    /** Decrypts recorded content; left out: there is no key. */
    recorded?: Pick<RecordedContents, "sealed" | "openComment"> | undefined;
  }
}
