/** Vector stores of projects. */

import { DAY_MS, MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { Database } from "../../storage/database.ts";
import type { Page, PageRequest } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import {
  emptyTotals,
  findVectorStore,
  insertVectorStore,
  listVectorStores,
  postponeExpiry,
  readTotals,
  type StoreTotals,
  updateVectorStore,
} from "./vector-store-queries.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";

export interface NewVectorStore {
  projectId: string;
  name: string | undefined;
  description: string | undefined;
  metadata: Readonly<Record<string, string>> | undefined;
  expiresAfterDays: number | undefined;
  embeddingModel: string;
}

export interface VectorStoreChange {
  /** Undefined: unchanged. */
  name?: string | null | undefined;
  metadata?: Readonly<Record<string, string>> | null | undefined;
  expiresAfterDays?: number | null | undefined;
}

export type StoreWithTotals = VectorStoreRow & { totals: StoreTotals };

/** A store that is used often is not written each time. */
const ACTIVITY_MS = MINUTE_MS;

/** IDs of OpenAI's stores have no `p` here, so a tool can tell whose store it names. */
const ID_PREFIX = "vs_p";

/** Whether an ID has the form of those that this service gives to its stores. */
export function isStoreId(id: string): boolean {
  return id.startsWith(ID_PREFIX);
}

export class VectorStores {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async create(store: NewVectorStore): Promise<VectorStoreRow> {
    const createdAt = Date.now();
    const expiresAfterDays = store.expiresAfterDays ?? null;
    const row: VectorStoreRow = {
      id: newId(ID_PREFIX),
      projectId: store.projectId,
      name: store.name ?? "",
      description: store.description ?? null,
      metadata: store.metadata === undefined ? null : JSON.stringify(store.metadata),
      embeddingModel: store.embeddingModel,
      dimensions: null,
      createdAt,
      lastActiveAt: createdAt,
      expiresAfterDays,
      expiresAt: expiryOf(createdAt, expiresAfterDays),
      version: 0,
      deletedAt: null,
    };
    await this.#database.run((executor) => insertVectorStore(executor, row));
    return row;
  }

  /** Throws a Fault when the project has no such store. */
  async find(resource: ProjectResource): Promise<VectorStoreRow> {
    const row = await this.#database.run((executor) => findVectorStore(executor, resource));
    if (row !== undefined) return row;
    const message = `Vector store with id '${resource.id.slice(0, 100)}' not found.`;
    throw new Fault("not-found", message, { param: "vector_store_id" });
  }

  /** Throws a Fault when the project has no such store, or it has expired. */
  async findActive(resource: ProjectResource): Promise<VectorStoreRow> {
    const store = await this.find(resource);
    if (!isExpired(store)) return store;
    const message = `The vector store '${store.id}' has expired. Create another one, or a longer expires_after before it expires.`;
    throw new Fault("invalid-request", message, { param: "vector_store_id", code: "vector_store_expired" });
  }

  async withTotals(store: VectorStoreRow): Promise<StoreWithTotals> {
    const totals = await this.#database.run((executor) => readTotals(executor, [store.id]));
    return { ...store, totals: totals.get(store.id) ?? emptyTotals() };
  }

  /** Throws a Fault for an unknown cursor. */
  async list(page: PageRequest & { projectId: string }): Promise<Page<StoreWithTotals>> {
    const { entries, hasMore } = await this.#database.run((executor) => listVectorStores(executor, page));
    const ids = entries.map(({ id }) => id);
    const totals = await this.#database.run((executor) => readTotals(executor, ids));
    return { entries: entries.map((row) => ({ ...row, totals: totals.get(row.id) ?? emptyTotals() })), hasMore };
  }

  /** Throws a Fault when the project has no such store. */
  async update(resource: ProjectResource, change: VectorStoreChange): Promise<VectorStoreRow> {
    const { name, metadata, expiresAfterDays } = change;
    const now = Date.now();
    const row = {
      ...(name !== undefined && { name: name ?? "" }),
      ...(metadata !== undefined && { metadata: metadata && JSON.stringify(metadata) }),
      ...(expiresAfterDays !== undefined && { expiresAfterDays, expiresAt: expiryOf(now, expiresAfterDays) }),
      lastActiveAt: now,
    };
    await this.#database.run((executor) => updateVectorStore(executor, resource, row));
    return this.find(resource);
  }

  /** Deletes a store; its content is removed in steps. Throws a Fault when the project has no such store. */
  async delete(resource: ProjectResource): Promise<void> {
    await this.find(resource);
    const change = { deletedAt: Date.now() };
    await this.#database.run((executor) => updateVectorStore(executor, resource, change));
  }

  /** Postpones the expiry of a store that is used. */
  async markActive(store: VectorStoreRow, now = Date.now()): Promise<void> {
    if (now - store.lastActiveAt < ACTIVITY_MS) return;
    await this.#database.run((executor) => postponeExpiry(executor, store, now));
  }
}

function isExpired({ expiresAt }: Pick<VectorStoreRow, "expiresAt">): boolean {
  return expiresAt !== null && expiresAt <= Date.now();
}

function expiryOf(activeAt: number, days: number | null): number | null {
  return days === null ? null : activeAt + days * DAY_MS;
}
