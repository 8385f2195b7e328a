/** Chat completions that their callers stored: rows of recorded content. */

import type { RequestEntry } from "../../http/request-entry.ts";
import type { StoreChat } from "../../inference/recording/chat-recording.ts";
import { turns } from "../../kernel/async/turns.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { MAX_PAGE_BYTES } from "../../storage/first-within.ts";
import type { ChatCompletionBody } from "../../wire/openai/chat/chat-body.ts";
import { toUsage } from "../../wire/openai/chat/chat-envelope.ts";
import { metadataOf, repeatedFields } from "../../wire/openai/chat/stored-completions.ts";
import type { ContentWriter } from "./content-writer.ts";
import { listContents } from "./list-contents.ts";
import { type ContentRow, findCompletion, removeContents, replaceContent } from "./recorded-content-queries.ts";
import type { CompletionFields, SealedContents, StoredContent } from "./sealed-content.ts";

export interface StoredCompletionsOptions {
  database: Database;
  sealed: SealedContents;
  writer: ContentWriter;
  logger: Logger;
}

interface Place {
  organizationId: string;
  projectId: string;
}

export interface CompletionQuery {
  after: string | undefined;
  limit: number;
  order: "asc" | "desc";
  model: string | undefined;
  metadata: readonly (readonly [key: string, value: string])[];
}

export type Completion = StoredContent & { completion: CompletionFields };

const ROWS_AT_ONCE = 50;

export class StoredCompletions {
  readonly #options: StoredCompletionsOptions;

  constructor(options: StoredCompletionsOptions) {
    this.#options = options;
  }

  /**
   * Returns what stores the answer of a chat before its client gets the end, with the request's entry in the history;
   * undefined: one outside a project, which is not stored. Throws a Fault for invalid metadata.
   */
  storeWith(entryOf: () => RequestEntry | undefined, body: ChatCompletionBody): StoreChat {
    const { writer, logger } = this.#options;
    const metadata = metadataOf(body);
    const request = repeatedFields(body);
    return async ({ recording, forwardedId, answer, usage }) => {
      const entry = entryOf();
      if (entry === undefined) return;
      const id = forwardedId ?? `chatcmpl-${answer.id}`;
      const created = Math.floor(answer.createdAt / 1000);
      try {
        const completion = { id, created, model: answer.model, usage: toUsage(usage), metadata, request };
        await writer.store(entry, recording, completion);
      } catch (error) {
        // The client gets its answer anyway.
        logger.error({ err: error, requestId: entry.id }, "chat completion not stored");
      }
    };
  }

  /** Throws a Fault when it does not exist. */
  async find(place: Place, id: string): Promise<Completion> {
    return this.#open(await this.#findRow(place, id), id);
  }

  /**
   * Lists a page, which ends before its limit when its completions are large. Throws a Fault for a cursor that is not in
   * the list, and the signal's reason once that aborts: only their content has the metadata of completions.
   */
  async list(
    place: Place,
    query: CompletionQuery,
    signal: AbortSignal,
  ): Promise<{ entries: Completion[]; hasMore: boolean }> {
    const { database, sealed } = this.#options;
    const { after, limit, order, model, metadata } = query;
    const turn = turns(signal);
    let position = after === undefined ? undefined : await this.#numberOf(place, after);
    let pageBytes = 0;
    const entries: Completion[] = [];
    for (;;) {
      const selection = { ...place, projectIds: [place.projectId], isCompletion: true, model, order };
      const { rows, next } = await database.run((executor) =>
        listContents(executor, database.kind, { ...selection, after: position, limit: ROWS_AT_ONCE }),
      );
      for (const row of rows) {
        await turn();
        const { content, bytes = 0 } = sealed.tryMeasure(row, row.content) ?? {};
        if (content?.completion === undefined || !hasMetadata(content.completion, metadata)) continue;
        pageBytes += bytes;
        const isFull = entries.length > 0 && pageBytes > MAX_PAGE_BYTES;
        if (isFull || entries.length === limit) return { entries, hasMore: true };
        entries.push(withId(row, content as Completion));
      }
      if (next === undefined) return { entries, hasMore: false };
      position = next;
    }
  }

  /** Replaces the metadata. Throws a Fault when it does not exist. */
  async update(place: Place, id: string, metadata: Readonly<Record<string, string>>): Promise<Completion> {
    const { database, sealed } = this.#options;
    const row = await this.#findRow(place, id);
    const content = this.#open(row, id);
    const changed = { ...content, completion: { ...content.completion, metadata } };
    const isThere = await database.run((executor) =>
      replaceContent(executor, { ...row, content: sealed.seal(row, changed) }),
    );
    if (!isThere) throw notFound(id);
    return changed;
  }

  /** Throws a Fault when it does not exist. */
  async delete(place: Place, id: string): Promise<void> {
    const { database } = this.#options;
    const row = await this.#findRow(place, id);
    await database.transaction((executor) => removeContents(executor, database.kind, { ids: [row.id] }, 1));
  }

  async #findRow({ projectId }: Place, id: string): Promise<ContentRow> {
    const row = await this.#options.database.run((executor) => findCompletion(executor, projectId, id));
    if (row === undefined) throw notFound(id);
    return row;
  }

  async #numberOf({ projectId }: Place, id: string): Promise<number> {
    const row = await this.#options.database.run((executor) => findCompletion(executor, projectId, id));
    if (row !== undefined) return row.number;
    const shown = JSON.stringify(id.slice(0, 64));
    throw invalidRequest(`Invalid value for 'after': this list has no entry ${shown}.`, "after", "invalid_value");
  }

  #open(row: ContentRow, id: string): Completion {
    const content = this.#options.sealed.open(row, row.content);
    if (content.completion === undefined) throw notFound(id);
    return withId(row, content as Completion);
  }
}

/** The ID of a row changes when an upstream repeats it. */
function withId({ completionId }: ContentRow, content: Completion): Completion {
  return { ...content, completion: { ...content.completion, id: completionId ?? content.completion.id } };
}

export function hasMetadata(
  { metadata }: Pick<CompletionFields, "metadata">,
  filter: CompletionQuery["metadata"],
): boolean {
  return filter.every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value);
}

function notFound(id: string): Fault {
  const message = `No stored chat completion has the ID \`${id.slice(0, 100)}\`. Completions are stored with \`store: true\`, for \`recorded_content.keep_completions_days\` days.`;
  return new Fault("not-found", message, { code: "not_found" });
}
