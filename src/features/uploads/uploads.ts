/** Uploads: files that clients send in parts, which the completion puts together. */

import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { HOUR_MS } from "../../kernel/durations.ts";
import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { processOwner } from "../../kernel/process/process-owner.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { lockProject } from "../accounts/index.ts";
import type { FileRow, FileStore } from "../files/index.ts";
import {
  changeUpload,
  deleteUpload,
  deleteUploadPart,
  deleteUploadParts,
  findUpload,
  insertUpload,
  insertUploadPart,
  listUploadParts,
  sumOpenUploads,
} from "./upload-queries.ts";
import type { UploadPartRow, UploadRow } from "./upload-rows.ts";

export interface UploadsOptions {
  database: Database;
  files: FileStore;
  /** Folder for temporary files. */
  directory: string;
  maxFileSize: number;
}

type NewUpload = Pick<
  UploadRow,
  "projectId" | "filename" | "purpose" | "bytes" | "fileExpiresAfterSeconds" | "createdBy"
>;

/** As OpenAI's. */
const OPEN_FOR_MS = HOUR_MS;
const MAX_PARTS = 10_000;

export class Uploads {
  readonly #options: UploadsOptions;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** Throws a Fault for a file that is too large, or for which the project has no room. */
  async create(upload: NewUpload): Promise<UploadRow> {
    const { database, files, maxFileSize } = this.#options;
    const createdAt = Date.now();
    if (upload.bytes > maxFileSize) {
      const message = `The file may have at most ${maxFileSize} bytes, the limit of files.max_file_size; the upload announces ${upload.bytes}.`;
      throw invalidRequest(message, "bytes", "invalid_value");
    }
    const expiresAt = createdAt + OPEN_FOR_MS;
    const row: UploadRow = { ...upload, id: newId("upload_"), status: "pending", fileId: null, createdAt, expiresAt };
    await database.transaction(async (executor) => {
      await lockProject(executor, upload.projectId);
      const open = await sumOpenUploads(executor, upload.projectId, createdAt);
      await files.requireRoom(executor, upload.projectId, open + upload.bytes);
      await insertUpload(executor, row);
    });
    return row;
  }

  /** Throws a Fault when the project has no such upload, or it takes no parts any more. */
  async findOpen(resource: ProjectResource): Promise<UploadRow> {
    const row = await this.#run((executor) => findUpload(executor, resource));
    if (row === undefined) throw new Fault("not-found", `No such Upload object: ${resource.id.slice(0, 100)}`);
    if (row.status !== "pending") throw notPending(row);
    if (row.expiresAt <= Date.now()) throw invalidRequest(`The upload '${row.id}' has expired. Create another one.`);
    return row;
  }

  /** Adds the file at `path`, which is moved or copied. Throws a Fault when the parts exceed the announced size. */
  async addPart(upload: UploadRow, { path, bytes }: { path: string; bytes: number }): Promise<UploadPartRow> {
    const { database, files } = this.#options;
    const part: UploadPartRow = { id: newId("part_"), uploadId: upload.id, bytes, createdAt: Date.now() };
    await database.transaction(async (executor) => {
      // Makes other parts wait, which would not see this one.
      if (!(await changeUpload(executor, upload, "pending", { status: "pending" }))) throw notPending(upload);
      checkPart(upload, await listUploadParts(executor, upload.id), bytes);
      await insertUploadPart(executor, part);
    });
    try {
      await files.blobs.putFile(blobOf(part), path);
    } catch (failure) {
      await this.#run((executor) => deleteUploadPart(executor, part.id)).catch(() => {});
      throw failure;
    }
    return part;
  }

  /** Puts the parts together. Throws a Fault for an unknown or repeated part, and for another size or hash than announced. */
  async complete(
    upload: UploadRow,
    ids: readonly string[],
    md5: string | undefined,
  ): Promise<{ upload: UploadRow; file: FileRow }> {
    const { files } = this.#options;
    const stored = await this.#run((executor) => listUploadParts(executor, upload.id));
    const remaining = new Map(stored.map((part) => [part.id, part]));
    const parts = ids.map((id, index) => {
      const part = remaining.get(id);
      remaining.delete(id);
      if (part !== undefined) return part;
      const isRepeated = ids.indexOf(id) < index;
      const message = isRepeated
        ? `The part '${id.slice(0, 100)}' is listed more than once. Send its bytes as another part.`
        : `The upload has no part '${id.slice(0, 100)}'.`;
      throw invalidRequest(message, `part_ids[${index}]`, "invalid_value");
    });
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    if (bytes !== upload.bytes) {
      const message = `The parts have ${bytes} bytes; the upload announced ${upload.bytes}.`;
      throw invalidRequest(message, "part_ids", "invalid_value");
    }
    if (!(await this.#change(upload, "pending", { status: "completing" }))) {
      throw new Fault("conflict", `The upload '${upload.id}' is being completed or has ended.`);
    }
    try {
      const file = await this.#assemble(upload, parts, md5);
      const change = { status: "completed", fileId: file.id } as const;
      await this.#change(upload, "completing", change);
      await this.#removeParts(upload);
      return { upload: { ...upload, ...change }, file: await files.find(file) };
    } catch (failure) {
      await this.#change(upload, "completing", { status: "pending" });
      throw failure;
    }
  }

  async cancel(upload: UploadRow): Promise<UploadRow> {
    if (!(await this.#change(upload, "pending", { status: "cancelled" }))) {
      throw new Fault("conflict", `The upload '${upload.id}' is being completed or has ended.`);
    }
    await this.#removeParts(upload);
    return { ...upload, status: "cancelled" };
  }

  /** Deletes an upload that has expired, and its parts. */
  async remove({ id }: ProjectResource): Promise<void> {
    await this.#options.files.blobs.delete(folderOf(id));
    await this.#run((executor) => deleteUpload(executor, id));
  }

  async #assemble(upload: UploadRow, parts: readonly UploadPartRow[], md5: string | undefined): Promise<FileRow> {
    const { files, directory } = this.#options;
    const folder = await mkdtemp(join(directory, `${processOwner()}.`));
    const path = join(folder, "file");
    try {
      const hash = createHash("md5");
      const read = async function* () {
        for (const part of parts) {
          for await (const chunk of await files.blobs.read(blobOf(part))) {
            hash.update(chunk);
            yield chunk;
          }
        }
      };
      await pipeline(read, createWriteStream(path));
      const actual = hash.digest("hex");
      if (md5 !== undefined && actual !== md5.toLowerCase()) {
        throw invalidRequest(`The parts have the MD5 hash ${actual}.`, "md5", "invalid_value");
      }
      const { projectId, purpose, filename, bytes, fileExpiresAfterSeconds } = upload;
      const expiresAfterSeconds = fileExpiresAfterSeconds ?? undefined;
      const createdBy = upload.createdBy ?? undefined;
      return await files.create({ projectId, purpose, filename, path, bytes, expiresAfterSeconds, createdBy });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #removeParts({ id }: UploadRow): Promise<void> {
    await this.#options.files.blobs.delete(folderOf(id));
    await this.#run((executor) => deleteUploadParts(executor, id));
  }

  #change(
    resource: ProjectResource,
    from: UploadRow["status"],
    change: Parameters<typeof changeUpload>[3],
  ): Promise<boolean> {
    return this.#run((executor) => changeUpload(executor, resource, from, change));
  }

  #run<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    return this.#options.database.run(work);
  }
}

/** Throws a Fault for a part that exceeds the announced size, or that is one too many. */
function checkPart(upload: UploadRow, parts: readonly UploadPartRow[], bytes: number): void {
  const received = parts.reduce((sum, part) => sum + part.bytes, bytes);
  if (received > upload.bytes) {
    const message = `The parts have ${received} bytes; the upload announced ${upload.bytes}.`;
    throw invalidRequest(message, "data", "invalid_value");
  }
  if (parts.length >= MAX_PARTS) throw invalidRequest(`An upload may have at most ${MAX_PARTS} parts.`, "data");
}

function notPending({ id, status }: Pick<UploadRow, "id" | "status">): Fault {
  const state = status === "pending" ? "no longer open" : status;
  return invalidRequest(`The upload '${id}' is ${state}. Create another one.`);
}

function folderOf(uploadId: string): string {
  return `uploads/${uploadId}/`;
}

function blobOf({ uploadId, id }: Pick<UploadPartRow, "uploadId" | "id">): string {
  return `${folderOf(uploadId)}${id}`;
}
