/** Stores responses, encrypted, with the items that later responses continue from. */

import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { StoredBytes } from "../../storage/stored-bytes.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { updateConversation } from "./conversation-queries.ts";
import type { EventLog, StreamEvent } from "./event-log.ts";
import { type ItemPageRequest, insertItems, listItems, nextPosition, readItems } from "./item-queries.ts";
import { responseNotFound } from "./response-faults.ts";
import type { SealedRows } from "./sealed-rows.ts";
import type { StoredItem, StoredItems } from "./stored-items.ts";
import {
  deleteResponse,
  findResponse,
  insertResponse,
  isRunningStatus,
  listSilentResponses,
  updateRunningResponse,
} from "./stored-response-queries.ts";
import type { ResponseItemRow, StoredResponseRow } from "./stored-response-rows.ts";

/** Response as the API shows it, without its output. */
export type ResponseEnvelope = Readonly<Record<string, unknown>> & { status: string };

export interface NewResponse {
  projectId: string;
  id: string;
  envelope: ResponseEnvelope;
  previousResponseId: string | undefined;
  conversationId: string | undefined;
  isBackground: boolean;
  /** Key that stores it. */
  createdBy?: string | undefined;
  input: readonly StoredItem[];
  output: readonly StoredItem[];
}

interface ResponseState {
  isBackground: boolean;
  /** Whether it is queued or in progress. */
  isRunning: boolean;
}

export interface FoundResponse extends ResponseState {
  response: Record<string, unknown>;
}

export interface ItemPage {
  entries: StoredItem[];
  hasMore: boolean;
}

/** A running response shows a sign of life more often, unless its process has died. */
const DEAD_AFTER_MS = MINUTE_MS;
/** Dead responses that are ended at a time. */
const MAX_DEAD = 100;
/** Signs of life of other replicas, whose clocks differ, may be as much older. */
const LATE_MS = 10 * MINUTE_MS;

export interface ResponseStoreOptions {
  database: Database;
  rows: SealedRows;
  events: EventLog;
  items: StoredItems;
  storedBytes: Pick<StoredBytes, "checkRoom">;
  outbox: Pick<WebhookOutbox, "add">;
}

export class ResponseStore {
  readonly #options: ResponseStoreOptions;
  /** Signs of life before this time were looked through; undefined: none were. */
  #endedUntil: number | undefined;
  /** Last sign of life of each response that the last call of `endDead` found. */
  #silent: ReadonlyMap<string, number> = new Map();

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
        createdBy: response.createdBy ?? null,
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
    const response = { ...envelope, output: await this.#options.items.open(output) };
    return { response, isBackground: row.isBackground === 1, isRunning: isRunningStatus(response.status) };
  }

  /** Reads no content. Throws a Fault when the project has no such response. */
  async state({ projectId, id }: ProjectResource): Promise<ResponseState> {
    const row = await this.#options.database.run((executor) =>
      executor
        .selectFrom("storedResponses")
        .select(["isBackground", "status", "usedAt"])
        .where("id", "=", id)
        .where("projectId", "=", projectId)
        .executeTakeFirst(),
    );
    if (row === undefined) throw responseNotFound(id);
    return { isBackground: row.isBackground === 1, isRunning: isRunningStatus(row.status) && !isDead(row) };
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
    return { entries: await this.#options.items.open(row.entries), hasMore: row.hasMore };
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

  /**
   * Ends the responses whose processes have died, once for all replicas: those that an earlier call found silent, since
   * after an outage of the database all are, until their processes can write again.
   */
  async endDead(): Promise<void> {
    const { database } = this.#options;
    const until = Date.now() - DEAD_AFTER_MS;
    const from = this.#endedUntil ?? until - DAY_MS;
    const silent = await database.run((executor) => listSilentResponses(executor, { from, until }, MAX_DEAD));
    const before = this.#silent;
    this.#silent = new Map(silent.map(({ id, usedAt }) => [id, usedAt]));
    for (const row of silent) {
      const { projectId, id, usedAt } = row;
      if (before.get(id) !== usedAt) continue;
      const envelope = this.#readableEnvelope(row);
      if (envelope === undefined) continue;
      const change = { status: envelope.status, content: this.#seal("response", projectId, id, envelope) };
      await database.transaction(async (executor) => {
        if (await updateRunningResponse(executor, row, change, usedAt)) {
          await this.#announce(executor, row, envelope.status);
        }
      });
    }
    this.#endedUntil = until - LATE_MS;
  }

  /** Undefined for a response that another key encrypted: replicas with that key end it. */
  #readableEnvelope(row: StoredResponseRow): ResponseEnvelope | undefined {
    try {
      return this.#openEnvelope(row);
    } catch (failure) {
      if (failure instanceof Fault) return undefined;
      throw failure;
    }
  }

  /** Adds the event of a background response that has ended. */
  async #announce(executor: Executor, { projectId, id }: ProjectResource, status: string): Promise<void> {
    const type = `response.${status}` as const;
    if (!isEnding(type)) throw new Error(`A response ended as ${status}`);
    await this.#options.outbox.add(executor, { type, data: { id, project_id: projectId } }, Date.now());
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
    if (!isRunningStatus(status) || !isDead({ usedAt })) return { ...envelope, status };
    const error = { code: "server_error", message: "The service stopped before the response was complete." };
    return { ...envelope, status: "failed", error };
  }

  #seal(table: "response" | "item", projectId: string, id: string, value: unknown): Buffer {
    return this.#options.rows.seal({ table, projectId, id }, value);
  }
}

/** Whether the process of a running response has died. */
function isDead({ usedAt }: Pick<StoredResponseRow, "usedAt">): boolean {
  return usedAt <= Date.now() - DEAD_AFTER_MS;
}

const ENDINGS = ["response.completed", "response.incomplete", "response.failed", "response.cancelled"] as const;

function isEnding(type: string): type is (typeof ENDINGS)[number] {
  return (ENDINGS as readonly string[]).includes(type);
}
