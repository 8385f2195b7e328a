/** Stores responses, encrypted, with the items that later responses continue from. */

import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import { HOUR_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { type ContextParam, checkContextSize, checkReferences } from "./context-limits.ts";
import { updateConversation } from "./conversation-queries.ts";
import type { EventLog, StreamEvent } from "./event-log.ts";
import {
  type ItemPageRequest,
  insertItems,
  listItems,
  measureItems,
  nextPosition,
  readItemBytes,
  readItems,
  readRows,
} from "./item-queries.ts";
import { LargeReads } from "./large-reads.ts";
import { chainTooLong, notEnded, previousResponseNotFound, responseNotFound } from "./response-faults.ts";
import type { SealedRows } from "./sealed-rows.ts";
import type { StoredBytes } from "./stored-bytes.ts";
import {
  deleteResponse,
  findResponse,
  insertResponse,
  type ProjectResource,
  RUNNING_STATUSES,
  readChain,
  touchResponses,
  updateRunningResponse,
} from "./stored-response-queries.ts";
import type { ResponseItemRow, StoredResponseRow } from "./stored-response-rows.ts";

/** Item as the API shows it. */
export interface StoredItem {
  id: string;
  [field: string]: unknown;
}

/** Response as the API shows it, without its output. */
export type ResponseEnvelope = Readonly<Record<string, unknown>> & { status: string };

export interface NewResponse {
  projectId: string;
  id: string;
  envelope: ResponseEnvelope;
  previousResponseId: string | undefined;
  conversationId: string | undefined;
  isBackground: boolean;
  input: readonly StoredItem[];
  output: readonly StoredItem[];
}

export interface FoundResponse {
  response: Record<string, unknown>;
  isBackground: boolean;
  /** Whether it is queued or in progress. */
  isRunning: boolean;
}

export interface ItemPage {
  entries: StoredItem[];
  hasMore: boolean;
}

/** Responses that one response can continue from. */
const MAX_CHAIN_LENGTH = 2000;
/** Continuing a response renews the retention of its chain, at most this often. */
const TOUCH_MS = HOUR_MS;
/** A running response shows a sign of life more often, unless its process has died. */
const DEAD_AFTER_MS = MINUTE_MS;

export interface ResponseStoreOptions {
  database: Database;
  rows: SealedRows;
  events: EventLog;
  /** Maximum bytes of the stored items that one response continues from. */
  maxContextBytes: number;
  storedBytes: Pick<StoredBytes, "checkRoom">;
  outbox: Pick<WebhookOutbox, "add">;
}

export class ResponseStore {
  readonly #options: ResponseStoreOptions;
  readonly #largeReads = new LargeReads();

  constructor(options: ResponseStoreOptions) {
    this.#options = options;
  }

  /** Stores a response, and adds its items to its conversation. Throws a Fault when the project stores too much. */
  async insert(response: NewResponse): Promise<void> {
    const { projectId, id, envelope, isBackground } = response;
    await this.#options.storedBytes.checkRoom(projectId);
    const now = Date.now();
    await this.#options.database.transaction(async (executor) => {
      // The items of a running response reach the conversation with its output.
      const isRunning = isRunningStatus(envelope.status);
      const items = await this.#toItemRows(executor, isRunning ? { ...response, conversationId: undefined } : response);
      await insertResponse(executor, {
        id,
        projectId,
        previousResponseId: response.previousResponseId ?? null,
        conversationId: response.conversationId ?? null,
        isBackground: isBackground ? 1 : 0,
        status: envelope.status,
        createdAt: now,
        usedAt: now,
        content: this.#seal("response", projectId, id, envelope),
      });
      await insertItems(executor, items);
    });
  }

  /** Adds the items of a response that is not stored to its conversation. Throws like `insert`. */
  async insertItemsOnly(response: NewResponse): Promise<void> {
    await this.#options.storedBytes.checkRoom(response.projectId);
    await this.#options.database.transaction(async (executor) => {
      const rows = await this.#toItemRows(executor, response);
      await insertItems(
        executor,
        rows.filter(({ conversationId }) => conversationId !== null).map((row) => ({ ...row, responseId: null })),
      );
    });
  }

  /** Throws a Fault when the project has no such response. */
  async find(resource: ProjectResource): Promise<FoundResponse> {
    const { row, output } = await this.#options.database.run(async (executor) => {
      const row = await this.#require(executor, resource);
      const items = await readItems(executor, "responseId", [row.id]);
      return { row, output: items.filter(({ isOutput }) => isOutput === 1) };
    });
    const envelope = this.#openEnvelope(row);
    const response = { ...envelope, output: await this.openItems(output) };
    return { response, isBackground: row.isBackground === 1, isRunning: isRunningStatus(response.status) };
  }

  /** Throws a Fault when the project has no such response. */
  async delete(resource: ProjectResource): Promise<void> {
    const isDeleted = await this.#options.database.transaction((executor) => deleteResponse(executor, resource));
    if (!isDeleted) throw responseNotFound(resource.id);
  }

  /** Throws a Fault for an unknown response or an unknown `after`. */
  async listInputItems(resource: ProjectResource, page: ItemPageRequest): Promise<ItemPage> {
    const { projectId, id } = resource;
    const row = await this.#options.database.run(async (executor) => {
      await this.#require(executor, resource);
      return listItems(executor, { projectId, responseId: id }, page);
    });
    return { entries: await this.openItems(row.entries), hasMore: row.hasMore };
  }

  /**
   * Returns the items of a response and of all that it continues, oldest first. Throws a Fault when one of them is
   * missing, because the answer would change, or still runs.
   */
  async readChain({ projectId, id }: ProjectResource): Promise<StoredItem[]> {
    const { database } = this.#options;
    const { ids, bytes } = await database.run(async (executor) => {
      const latest = await findResponse(executor, { projectId, id });
      if (latest !== undefined && isRunningStatus(latest.status)) throw notEnded(id);
      const chain = await readChain(executor, { projectId, id }, MAX_CHAIN_LENGTH + 1);
      if (chain.length > MAX_CHAIN_LENGTH) throw chainTooLong(MAX_CHAIN_LENGTH);
      const last = chain.at(-1);
      const missing = last === undefined ? id : last.previousResponseId;
      if (missing !== null) throw previousResponseNotFound(missing);
      const ids = chain.map((link) => link.id);
      const bytes = await this.#checkSize(executor, "responseId", ids, "previous_response_id");
      const now = Date.now();
      const stale = chain.filter(({ usedAt }) => usedAt < now - TOUCH_MS).map((link) => link.id);
      await touchResponses(executor, stale, now);
      return { ids, bytes };
    });
    const order = new Map(ids.map((each, index) => [each, -index]));
    const rank = ({ responseId }: ResponseItemRow) => order.get(responseId ?? "") ?? 0;
    return this.#largeReads.run(projectId, bytes, async () => {
      const rows = await database.run((executor) => readItems(executor, "responseId", ids));
      return this.openItems(rows.sort((a, b) => rank(a) - rank(b) || a.position - b.position));
    });
  }

  /** Returns the items of a conversation, oldest first. Throws a Fault when there are too many. */
  async readConversation({ projectId, id }: ProjectResource): Promise<StoredItem[]> {
    const { database } = this.#options;
    const bytes = await database.run((executor) => this.#checkSize(executor, "conversationId", [id], "conversation"));
    return this.#largeReads.run(projectId, bytes, async () =>
      this.openItems(await database.run((executor) => readItems(executor, "conversationId", [id]))),
    );
  }

  /**
   * Returns the items that a request refers to with `ids`; those of other projects are missing. Throws a Fault when they
   * are too many or too large, each counted as often as it is named.
   */
  async findItems(projectId: string, ids: readonly string[]): Promise<Map<string, StoredItem>> {
    checkReferences(ids.length);
    const unique = [...new Set(ids)];
    const { database, maxContextBytes } = this.#options;
    const bytesOf = await database.run((executor) => readItemBytes(executor, projectId, unique));
    const bytes = ids.reduce((sum, id) => sum + (bytesOf.get(id) ?? 0), 0);
    checkContextSize({ count: ids.length, bytes }, maxContextBytes, "input");
    const items = await this.#largeReads.run(projectId, bytes, async () =>
      this.openItems(await database.run((executor) => readRows(executor, projectId, unique))),
    );
    return new Map(items.map((item) => [item.id, item]));
  }

  /** Ends a running response, with its last events. Returns false when it was cancelled or deleted meanwhile. */
  async finish(response: NewResponse, events: readonly StreamEvent[]): Promise<boolean> {
    const { projectId, id, envelope, conversationId, input } = response;
    return this.#options.database.transaction(async (executor) => {
      const change = { status: envelope.status, usedAt: Date.now() };
      const content = this.#seal("response", projectId, id, envelope);
      if (!(await updateRunningResponse(executor, { projectId, id }, { ...change, content }))) return false;
      const rows = await this.#toItemRows(executor, response);
      if (conversationId === undefined) await insertItems(executor, rows.slice(input.length));
      else {
        await executor.deleteFrom("responseItems").where("responseId", "=", id).execute();
        await insertItems(executor, rows);
      }
      await this.#options.events.insert(executor, { projectId, id }, events);
      await this.#announce(executor, { projectId, id }, envelope.status);
      return true;
    });
  }

  /** Cancels a background response and returns it; one that has ended stays as it is. Throws a Fault. */
  async cancel(resource: ProjectResource): Promise<FoundResponse> {
    const response = await this.find(resource);
    if (!response.isBackground) {
      throw invalidRequest("Only responses that were created with background: true can be cancelled.");
    }
    if (!response.isRunning) return response;
    const { output: _output, ...envelope } = response.response;
    const content = this.#seal("response", resource.projectId, resource.id, { ...envelope, status: "cancelled" });
    await this.#options.database.transaction(async (executor) => {
      const change = { status: "cancelled", usedAt: Date.now(), content };
      if (await updateRunningResponse(executor, resource, change))
        await this.#announce(executor, resource, "cancelled");
    });
    return this.find(resource);
  }

  /** Adds the event of a background response that has ended. */
  async #announce(executor: Executor, { projectId, id }: ProjectResource, status: string): Promise<void> {
    const type = `response.${status}` as const;
    if (!isEnding(type)) throw new Error(`A response ended as ${status}`);
    await this.#options.outbox.add(executor, { type, data: { id, project_id: projectId } }, Date.now());
  }

  /** Decrypts items, in slices: a conversation's take up to a second. */
  openItems(rows: readonly ResponseItemRow[]): Promise<StoredItem[]> {
    return mapInSlices(rows, ({ projectId, id, content }) =>
      this.#options.rows.open<StoredItem>({ table: "item", projectId, id }, content),
    );
  }

  /** Encrypts items; those of a conversation come after its present items. */
  async #toItemRows(
    executor: Executor,
    { projectId, id: responseId, conversationId, input, output }: NewResponse,
  ): Promise<ResponseItemRow[]> {
    const resource = conversationId === undefined ? undefined : { projectId, id: conversationId };
    // A conversation may have been deleted while the response was generated.
    const isThere = resource !== undefined && (await updateConversation(executor, resource, { usedAt: Date.now() }));
    const first = isThere ? await nextPosition(executor, resource.id) : 0;
    return [...input, ...output].map((item, index) => ({
      id: item.id,
      projectId,
      responseId,
      conversationId: isThere ? resource.id : null,
      position: first + index,
      isOutput: index < input.length ? 0 : 1,
      content: this.#seal("item", projectId, item.id, item),
    }));
  }

  async #require(executor: Executor, resource: ProjectResource): Promise<StoredResponseRow> {
    const row = await findResponse(executor, resource);
    if (row === undefined) throw responseNotFound(resource.id);
    return row;
  }

  /** Decrypts a response; one whose process has died is shown as failed. */
  #openEnvelope({ projectId, id, status, usedAt, content }: StoredResponseRow): ResponseEnvelope {
    const envelope = this.#options.rows.open<ResponseEnvelope>({ table: "response", projectId, id }, content);
    if (!isRunningStatus(status) || usedAt > Date.now() - DEAD_AFTER_MS) return { ...envelope, status };
    const error = { code: "server_error", message: "The service stopped before the response was complete." };
    return { ...envelope, status: "failed", error };
  }

  /** Returns the bytes. Throws a Fault when they are too many. */
  async #checkSize(executor: Executor, owner: Owner, ids: readonly string[], param: ContextParam): Promise<number> {
    const measured = await measureItems(executor, owner, ids);
    checkContextSize(measured, this.#options.maxContextBytes, param);
    return measured.bytes;
  }

  #seal(table: "response" | "item", projectId: string, id: string, value: unknown): Buffer {
    return this.#options.rows.seal({ table, projectId, id }, value);
  }
}

type Owner = Parameters<typeof measureItems>[1];

const ENDINGS = ["response.completed", "response.incomplete", "response.failed", "response.cancelled"] as const;

function isEnding(type: string): type is (typeof ENDINGS)[number] {
  return (ENDINGS as readonly string[]).includes(type);
}

function isRunningStatus(status: string): boolean {
  return (RUNNING_STATUSES as readonly string[]).includes(status);
}
