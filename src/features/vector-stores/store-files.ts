/** Files of vector stores: additions, which an ingest completes, and batches of them. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { Page } from "../../storage/page.ts";
import type { Attributes } from "../../wire/openai/attribute-filters.ts";
import type { ShownCounts } from "../../wire/openai/vector-stores.ts";
import type { FileRow, FileStore } from "../files/index.ts";
import {
  cancelBatch,
  countBatchFiles,
  deleteStoreFile,
  deleteStoreFiles,
  findBatch,
  findStoreFile,
  insertBatch,
  listStoreFiles,
  putStoreFile,
  readTexts,
  type StoreFilePage,
  updateStoreFile,
} from "./store-file-queries.ts";
import type { StoredSegments } from "./stored-segments.ts";
import { increaseVersion, removeContent } from "./vector-store-queries.ts";
import type { VectorStoreBatchRow, VectorStoreFileRow, VectorStoreRow } from "./vector-store-rows.ts";

export interface ChunkSizes {
  maxTokens: number;
  overlapTokens: number;
}

export interface FileAddition {
  fileId: string;
  attributes: Attributes | undefined;
  chunking: ChunkSizes;
}

export interface StoreFilesOptions {
  database: Database;
  files: Pick<FileStore, "find">;
  segments: StoredSegments;
  /** Called when a file was added. */
  onAdded: () => void;
}

/** Purposes of files that a store can take. */
const PURPOSES: ReadonlySet<FileRow["purpose"]> = new Set(["assistants", "user_data"]);

/** Segments of about 30 KB that are decrypted between two turns of the event loop. */
const SEGMENTS_AT_ONCE = 16;

export class StoreFiles {
  readonly #options: StoreFilesOptions;

  constructor(options: StoreFilesOptions) {
    this.#options = options;
  }

  /** Throws a Fault for a file that the project lacks or that has another purpose. */
  async checkFiles(projectId: string, ids: readonly string[]): Promise<void> {
    for (const id of ids) await this.#findFile(projectId, id);
  }

  /** Adds files, or adds them again. Throws a Fault for a file that the project lacks or that has another purpose. */
  async add(
    store: VectorStoreRow,
    keyId: string,
    additions: readonly FileAddition[],
    batch?: VectorStoreBatchRow,
  ): Promise<VectorStoreFileRow[]> {
    const rows: VectorStoreFileRow[] = [];
    for (const [index, addition] of additions.entries()) {
      rows.push(await this.#toRow(store, keyId, addition, batch?.id ?? null, index));
    }
    const former = await this.#options.database.transaction(async (executor) => {
      if (batch !== undefined) await insertBatch(executor, batch);
      const replaced: string[] = [];
      for (const row of rows) {
        const addition = await putStoreFile(executor, row);
        if (addition !== undefined) replaced.push(addition);
      }
      if (replaced.length > 0) await increaseVersion(executor, store.id);
      return replaced;
    });
    for (const addition of former) await removeContent(this.#options.database, addition);
    this.#options.onAdded();
    return rows;
  }

  async addBatch(
    store: VectorStoreRow,
    keyId: string,
    additions: readonly FileAddition[],
  ): Promise<VectorStoreBatchRow> {
    const { id: vectorStoreId, projectId } = store;
    const batch = { id: newId("vsfb_"), vectorStoreId, projectId, createdAt: Date.now(), cancelledAt: null };
    await this.add(store, keyId, additions, batch);
    return batch;
  }

  /** Throws a Fault when the store has no such file. */
  async find(store: VectorStoreRow, id: string): Promise<VectorStoreFileRow> {
    const row = await this.#run((executor) => findStoreFile(executor, store.id, id));
    if (row !== undefined) return row;
    const message = `No file found with id '${id.slice(0, 100)}' in vector store '${store.id}'.`;
    throw new Fault("not-found", message, { param: "file_id" });
  }

  /** Throws a Fault for an unknown cursor. */
  async list(page: StoreFilePage): Promise<Page<VectorStoreFileRow>> {
    return this.#run((executor) => listStoreFiles(executor, page));
  }

  /** Throws a Fault when the store has no such file. */
  async setAttributes(store: VectorStoreRow, id: string, attributes: Attributes | null): Promise<VectorStoreFileRow> {
    const file = await this.find(store, id);
    const change = { attributes: attributes && JSON.stringify(attributes) };
    await this.#options.database.transaction(async (executor) => {
      await updateStoreFile(executor, store.id, id, change);
      await increaseVersion(executor, store.id);
    });
    return { ...file, ...change };
  }

  /** Removes a file from a store; the file itself stays. Throws a Fault when the store has no such file. */
  async remove(store: VectorStoreRow, id: string): Promise<void> {
    const { additionId } = await this.find(store, id);
    await this.#options.database.transaction(async (executor) => {
      await deleteStoreFile(executor, store.id, id);
      await increaseVersion(executor, store.id);
    });
    await removeContent(this.#options.database, additionId);
  }

  /** Removes a deleted file from all stores of its project. */
  async removeEverywhere(resource: { projectId: string; id: string }): Promise<void> {
    const rows = await this.#options.database.transaction(async (executor) => {
      const deleted = await deleteStoreFiles(executor, resource);
      for (const { vectorStoreId } of deleted) await increaseVersion(executor, vectorStoreId);
      return deleted;
    });
    for (const { additionId } of rows) await removeContent(this.#options.database, additionId);
  }

  /** Texts of the chunks in `segments` segments from `from` on. Throws a Fault for content that no key decrypts. */
  async readTexts(file: VectorStoreFileRow, from: number, segments: number): Promise<string[]> {
    const texts: string[] = [];
    for (let position = from; position < from + segments; position += SEGMENTS_AT_ONCE) {
      const count = Math.min(SEGMENTS_AT_ONCE, from + segments - position);
      const positions = Array.from({ length: count }, (_, index) => position + index);
      const rows = await this.#run((executor) => readTexts(executor, file.additionId, positions));
      const sorted = rows.toSorted((a, b) => a.position - b.position);
      texts.push(...sorted.flatMap((row) => this.#options.segments.openTexts(file.additionId, row)));
      if (rows.length < count) break;
      await nextTurn();
    }
    return texts;
  }

  /** Throws a Fault when the store has no such batch. */
  async findBatch(store: VectorStoreRow, id: string): Promise<VectorStoreBatchRow> {
    const row = await this.#run((executor) => findBatch(executor, store.id, id));
    if (row !== undefined) return row;
    const message = `No file batch found with id '${id.slice(0, 100)}' in vector store '${store.id}'.`;
    throw new Fault("not-found", message, { param: "batch_id" });
  }

  async countBatch(batch: VectorStoreBatchRow): Promise<ShownCounts> {
    return this.#run((executor) => countBatchFiles(executor, batch.id));
  }

  /** Cancels the files of a batch that are in progress. Throws a Fault when the store has no such batch. */
  async cancelBatch(store: VectorStoreRow, id: string): Promise<VectorStoreBatchRow> {
    await this.findBatch(store, id);
    await this.#options.database.transaction((executor) => cancelBatch(executor, id, Date.now()));
    return this.findBatch(store, id);
  }

  async #toRow(
    store: VectorStoreRow,
    keyId: string,
    { fileId, attributes, chunking }: FileAddition,
    batchId: string | null,
    index: number,
  ): Promise<VectorStoreFileRow> {
    const { projectId, id: vectorStoreId } = store;
    const file = await this.#findFile(projectId, fileId);
    return {
      vectorStoreId,
      id: file.id,
      projectId,
      additionId: newId("vsf_"),
      batchId,
      keyId,
      filename: file.filename,
      status: "in_progress",
      errorCode: null,
      errorMessage: null,
      ...chunking,
      attributes: attributes === undefined ? null : JSON.stringify(attributes),
      usageBytes: 0,
      chunks: 0,
      // Lists show files of one request in its order.
      createdAt: Date.now() + index,
      attempts: 0,
      runId: null,
      dueAt: 0,
    };
  }

  async #findFile(projectId: string, id: string): Promise<FileRow> {
    const file = await this.#options.files.find({ projectId, id }).catch((failure: unknown) => {
      if (!(failure instanceof Fault) || failure.kind !== "not-found") throw failure;
      const message = `No such File object: ${id.slice(0, 100)}. GET /v1/files lists the files of the project.`;
      throw new Fault("not-found", message, { param: "file_id" });
    });
    if (!PURPOSES.has(file.purpose)) {
      const message = `The file '${file.id}' has the purpose ${file.purpose}; upload it with assistants or user_data.`;
      throw invalidRequest(message, "file_id", "invalid_value");
    }
    return file;
  }

  #run<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    return this.#options.database.run(work);
  }
}
