/** Files of projects: their metadata in the database, their bytes in the blob store. */

import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { Page } from "../../storage/page.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { lockProject } from "../accounts/index.ts";
import type { BlobStore, ByteRange } from "./blob-store.ts";
import {
  deleteFile,
  type FilePageRequest,
  findFile,
  insertFile,
  listFiles,
  markStored,
  sumFileBytes,
} from "./file-queries.ts";
import type { FileRow } from "./file-rows.ts";
import type { FileSettings } from "./settings.ts";

export interface FileStoreOptions extends Pick<FileSettings, "keepDays" | "maxSizePerProject"> {
  database: Database;
  blobs: BlobStore;
}

export interface NewFile {
  projectId: string;
  purpose: FileRow["purpose"];
  filename: string;
  /** Temporary file with the bytes, which is moved or copied. */
  path: string;
  bytes: number;
  /** Default: `keepDays`. */
  expiresAfterSeconds?: number | undefined;
  /** Key that stores it. */
  createdBy?: string | undefined;
}

export class FileStore {
  readonly blobs: BlobStore;
  readonly #options: FileStoreOptions;
  readonly #sums = [sumFileBytes];
  readonly #deletionChecks: ((resource: ProjectResource) => Promise<void>)[] = [];
  readonly #deletionListeners: ((resource: ProjectResource) => Promise<void>)[] = [];

  constructor(options: FileStoreOptions) {
    this.#options = options;
    this.blobs = options.blobs;
  }

  /** Throws a Fault when the project has no room for so many bytes more; 0: when it stores too much already. */
  async checkRoom(projectId: string, bytes: number): Promise<void> {
    await this.#options.database.run((executor) => this.#requireRoom(executor, projectId, bytes));
  }

  /**
   * Throws a Fault when the project has no room for so many bytes more, which the transaction goes on to store. Other
   * uploads of the project wait until its end: two at the same time would not see each other.
   */
  async requireRoom(executor: Executor, projectId: string, bytes: number): Promise<void> {
    await lockProject(executor, projectId);
    await this.#requireRoom(executor, projectId, bytes);
  }

  /** `sum` returns further bytes of a project that count against its room. */
  alsoCount(sum: (executor: Executor, projectId: string) => Promise<number>): void {
    this.#sums.push(sum);
  }

  /** Stores a file. Throws a Fault when the project has no room for it. */
  async create(file: NewFile): Promise<FileRow> {
    const { database } = this.#options;
    const row = await this.#put(file, (row) =>
      database.transaction(async (executor) => {
        await this.requireRoom(executor, row.projectId, row.bytes);
        await insertFile(executor, row);
      }),
    );
    await database.run((executor) => markStored(executor, row));
    return { ...row, isStored: 1 };
  }

  /**
   * Stores the results of a batch, which the project's limit does not refuse. They are found once the caller has marked
   * them as stored, together with the end of the batch.
   */
  async createOutput(file: NewFile): Promise<FileRow> {
    return this.#put(file, (row) => this.#options.database.run((executor) => insertFile(executor, row)));
  }

  /** Throws a Fault when the project has no such file. */
  async find(resource: ProjectResource): Promise<FileRow> {
    const row = await this.#options.database.run((executor) => findFile(executor, resource));
    if (row === undefined || row.expiresAt <= Date.now()) throw fileNotFound(resource.id);
    return row;
  }

  /** Throws a Fault for an unknown cursor. */
  async list(page: FilePageRequest): Promise<Page<FileRow>> {
    return this.#options.database.run((executor) => listFiles(executor, page));
  }

  /** Streams the bytes. Throws a Fault when the project has no such file. */
  async read(resource: ProjectResource): Promise<AsyncIterable<Uint8Array>> {
    const { id } = await this.find(resource);
    return this.readStored(id);
  }

  /** Streams the bytes of a file that may have expired. Throws a Fault when the storage lacks them. */
  async readStored(id: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array>> {
    return this.blobs.read(blobOf(id), range);
  }

  /** `check` throws a Fault for a file that is in use and may not be deleted. */
  checkBeforeDeletion(check: (resource: ProjectResource) => Promise<void>): void {
    this.#deletionChecks.push(check);
  }

  /** `listener` is called with each file that a caller has deleted. */
  onDeleted(listener: (resource: ProjectResource) => Promise<void>): void {
    this.#deletionListeners.push(listener);
  }

  /** Throws a Fault when the project has no such file, or it is in use. */
  async delete({ projectId, id }: ProjectResource): Promise<void> {
    for (const check of this.#deletionChecks) await check({ projectId, id });
    await this.find({ projectId, id });
    await this.remove({ projectId, id });
    for (const listener of this.#deletionListeners) await listener({ projectId, id });
  }

  /** Deletes a file if it exists: the bytes first, since bytes without a row would never be found again. */
  async remove(resource: ProjectResource): Promise<void> {
    await this.blobs.delete(blobOf(resource.id));
    await this.#options.database.run((executor) => deleteFile(executor, resource));
  }

  async #requireRoom(executor: Executor, projectId: string, bytes: number): Promise<void> {
    const { maxSizePerProject } = this.#options;
    let stored = 0;
    for (const sum of this.#sums) stored += await sum(executor, projectId);
    if (stored + bytes > maxSizePerProject) throw noRoom(stored, bytes, maxSizePerProject);
  }

  async #put(
    { projectId, purpose, filename, path, bytes, expiresAfterSeconds, createdBy }: NewFile,
    insert: (row: FileRow) => Promise<void>,
  ): Promise<FileRow> {
    const createdAt = Date.now();
    const keepSeconds = this.#options.keepDays * DAY_SECONDS;
    const expiresAt = createdAt + Math.min(expiresAfterSeconds ?? keepSeconds, keepSeconds) * 1000;
    const id = newId("file-");
    const row: FileRow = {
      id,
      projectId,
      purpose,
      filename,
      bytes,
      isStored: 0,
      createdAt,
      expiresAt,
      createdBy: createdBy ?? null,
    };
    await insert(row);
    try {
      await this.blobs.putFile(blobOf(id), path);
    } catch (failure) {
      // What is left, for example because the database is unavailable now, is removed with the abandoned uploads.
      await this.remove(row).catch(() => {});
      throw failure;
    }
    return row;
  }
}

function blobOf(fileId: string): string {
  return `files/${fileId}`;
}

function fileNotFound(id: string): Fault {
  return new Fault("not-found", `No such File object: ${id.slice(0, 100)}`, { param: "id" });
}

function noRoom(stored: number, bytes: number, max: number): Fault {
  const excess = bytes === 0 ? "more than" : `and ${bytes} more would exceed`;
  const message = `This project stores ${stored} bytes of files, ${excess} its limit of ${max}. Delete files, or ask the operator to raise files.max_size_per_project.`;
  return new Fault("quota-exhausted", message, { code: "insufficient_quota", ...(bytes > 0 && { param: "file" }) });
}

declare module "../../storage/personal-data.ts" {
  interface PersonalContext {
    files: Pick<FileStore, "remove" | "readStored" | "blobs">;
  }
}
