/** Stores conversations, encrypted. */

import { Fault } from "../../kernel/faults.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { StoredBytes } from "../../storage/stored-bytes.ts";
import {
  deleteConversation,
  findConversation,
  insertConversation,
  updateConversation,
} from "./conversation-queries.ts";
import {
  findItem,
  type ItemPageRequest,
  insertItems,
  listItems,
  nextPosition,
  removeFromConversation,
} from "./item-queries.ts";
import type { ItemPage } from "./response-store.ts";
import type { SealedRows } from "./sealed-rows.ts";
import type { HoldBytes, StoredItem, StoredItems } from "./stored-items.ts";

export interface Conversation {
  id: string;
  /** Epoch milliseconds. */
  createdAt: number;
  metadata: Readonly<Record<string, string>>;
}

export interface ConversationStoreOptions {
  database: Database;
  rows: SealedRows;
  items: StoredItems;
  storedBytes: Pick<StoredBytes, "checkRoom">;
}

export class ConversationStore {
  readonly #options: ConversationStoreOptions;

  constructor(options: ConversationStoreOptions) {
    this.#options = options;
  }

  /** Throws a Fault when the project stores too much. */
  async create(
    { projectId, id, createdBy }: ProjectResource & { createdBy?: string | undefined },
    metadata: Conversation["metadata"],
    items: readonly StoredItem[],
  ): Promise<Conversation> {
    await this.#options.storedBytes.checkRoom(projectId);
    const createdAt = Date.now();
    const content = this.#options.rows.seal({ table: "conversation", projectId, id }, metadata);
    await this.#options.database.transaction(async (executor) => {
      await insertConversation(executor, {
        id,
        projectId,
        createdAt,
        usedAt: createdAt,
        createdBy: createdBy ?? null,
        content,
      });
      await this.#insertItems(executor, { projectId, id }, items);
    });
    return { id, createdAt, metadata };
  }

  /** Throws a Fault when the project has no such conversation. */
  async find(resource: ProjectResource): Promise<Conversation> {
    return this.#options.database.run((executor) => this.#require(executor, resource));
  }

  /** Replaces the metadata. Throws a Fault when the project has no such conversation. */
  async update(resource: ProjectResource, metadata: Conversation["metadata"]): Promise<Conversation> {
    const { projectId, id } = resource;
    const content = this.#options.rows.seal({ table: "conversation", projectId, id }, metadata);
    return this.#options.database.transaction(async (executor) => {
      if (!(await updateConversation(executor, resource, { content, usedAt: Date.now() }))) throw notFound(id);
      return this.#require(executor, resource);
    });
  }

  /** Throws a Fault when the project has no such conversation. */
  async delete(resource: ProjectResource): Promise<void> {
    const isDeleted = await this.#options.database.transaction((executor) => deleteConversation(executor, resource));
    if (!isDeleted) throw notFound(resource.id);
  }

  /** Appends items. Throws a Fault when the project has no such conversation, or stores too much. */
  async addItems(resource: ProjectResource, items: readonly StoredItem[]): Promise<void> {
    await this.#options.storedBytes.checkRoom(resource.projectId);
    await this.#options.database.transaction(async (executor) => {
      if (!(await updateConversation(executor, resource, { usedAt: Date.now() }))) throw notFound(resource.id);
      await this.#insertItems(executor, resource, items);
    });
  }

  /** Throws a Fault for an unknown conversation or an unknown `after`. */
  async listItems(resource: ProjectResource, page: ItemPageRequest): Promise<ItemPage> {
    const { projectId, id } = resource;
    const row = await this.#options.database.run(async (executor) => {
      await this.#require(executor, resource);
      return listItems(executor, { projectId, conversationId: id }, page);
    });
    const { items } = this.#options;
    return { entries: await items.open(row.entries), hasMore: row.hasMore };
  }

  /** Throws a Fault when the conversation has no such item. */
  async findItem(resource: ProjectResource, itemId: string): Promise<StoredItem> {
    const { projectId } = resource;
    const row = await this.#options.database.run(async (executor) => {
      await this.#require(executor, resource);
      return findItem(executor, { projectId, id: itemId });
    });
    if (row?.conversationId !== resource.id) throw itemNotFound(itemId);
    const [item] = await this.#options.items.open([row]);
    return item as StoredItem;
  }

  /** Throws a Fault when the conversation has no such item. */
  async deleteItem(resource: ProjectResource, itemId: string): Promise<Conversation> {
    const { projectId, id } = resource;
    return this.#options.database.transaction(async (executor) => {
      const conversation = await this.#require(executor, resource);
      if (!(await removeFromConversation(executor, { projectId, id: itemId }, id))) throw itemNotFound(itemId);
      return conversation;
    });
  }

  /** Returns all items, oldest first. Throws a Fault for an unknown conversation, or too many items to continue. */
  async readItems(resource: ProjectResource, hold: HoldBytes): Promise<StoredItem[]> {
    const { database, items } = this.#options;
    await database.run((executor) => this.#require(executor, resource, "conversation"));
    return items.readConversation(resource, hold);
  }

  async #require(executor: Executor, { projectId, id }: ProjectResource, param?: string): Promise<Conversation> {
    const row = await findConversation(executor, { projectId, id });
    if (row === undefined) throw notFound(id, param);
    const metadata = this.#options.rows.open<Conversation["metadata"]>(
      { table: "conversation", projectId, id },
      row.content,
    );
    return { id, createdAt: row.createdAt, metadata };
  }

  async #insertItems(
    executor: Executor,
    { projectId, id: conversationId }: ProjectResource,
    items: readonly StoredItem[],
  ): Promise<void> {
    const first = await nextPosition(executor, conversationId);
    const rows = items.map((item, index) => ({
      id: item.id,
      projectId,
      responseId: null,
      conversationId,
      position: first + index,
      isOutput: 0,
      content: this.#options.rows.seal({ table: "item", projectId, id: item.id }, item),
    }));
    await insertItems(executor, rows);
  }
}

function notFound(id: string, param?: string): Fault {
  const shown = id.length <= 100 ? id : `${id.slice(0, 100)}…`;
  return new Fault("not-found", `There is no conversation \`${shown}\`.`, { param });
}

function itemNotFound(id: string): Fault {
  return new Fault("not-found", `The conversation has no item \`${id.slice(0, 100)}\`.`);
}
