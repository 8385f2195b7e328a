/** Writes the files of a multipart upload to disk as it arrives, in a folder that is deleted with the request. */

import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy } from "@fastify/busboy";
import type { FastifyReply, FastifyRequest } from "fastify";
import { DAY_MS } from "../kernel/durations.ts";
import { Fault, invalidRequest, unavailable } from "../kernel/faults.ts";
import { isOwnerGone, processOwner } from "../kernel/process/process-owner.ts";
import { authenticateAgain } from "./authenticate.ts";

export interface UploadOptions {
  /** Absolute path of the folder for uploads. */
  directory: string;
  /** Maximum size of all files together; the other fields have separate limits. */
  maxBytes: number;
  /** Name of the field that is a file. Default: `file`. */
  fileField?: string;
  /** Names of all fields that are files, with the maximum of each. Default: one in `fileField`. */
  fileFields?: Readonly<Record<string, number>>;
}

export interface Upload {
  /** The first file. */
  file: UploadedFile | undefined;
  /** All files, in order. */
  files: readonly UploadedFile[];
  /** Form fields other than the file, in order. */
  fields: readonly (readonly [name: string, value: string])[];
}

export interface UploadedFile {
  /** Name of the field, without brackets at its end. */
  field: string;
  path: string;
  /** The client's file name, without folders. */
  name: string;
  /** The client's file name as it was sent, which may lead anywhere. */
  clientPath: string;
  /** The media type as the client states it. */
  type: string;
  bytes: number;
}

/** Enough for 10 s of WAV as a data URL, the reference of a known speaker. */
const FIELD_BYTES = 512 * 1024;
const FIELDS = 100;
/** Bytes of all fields together: they are in memory. */
const FIELDS_BYTES = 4 * 1024 ** 2;
/** Bytes that fields, boundaries and headers may add to the file. */
const OVERHEAD_BYTES = 1024 ** 2;
/** Error codes of temporary failures: too many open files, or a folder that has changed since startup. */
const NOT_NOW: ReadonlySet<string> = new Set([
  "EMFILE",
  "ENFILE",
  "EROFS",
  "EACCES",
  "EPERM",
  "EIO",
  "ENOENT",
  "ENOTDIR",
  "EEXIST",
]);
/** Time for clients that read an answer only after sending everything; later the connection is closed. */
const LINGER_SECONDS = 5;
/** Age of folders that another machine sharing the directory has abandoned; no request takes this long. */
const ABANDONED_AFTER_MS = 2 * DAY_MS;

/** Creates the folder and removes files that a crash left there. Throws a Fault when it is not writable. */
export async function prepareUploads(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(directory)) {
      const path = join(directory, name);
      if (isOwnerGone(path, name, ABANDONED_AFTER_MS)) await rm(path, { recursive: true, force: true });
    }
    await rm(await mkdtemp(join(directory, `${processOwner()}.`)), { recursive: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A full disk must not prevent the service from starting.
    if (isFull(code)) return;
    const message = `The data directory cannot be used: ${directory} cannot be written (${code}). PARLANCE_DATA_DIR or data_directory names it.`;
    throw new Fault("invalid-request", message, { cause: error });
  }
}

/**
 * Receives an upload; resolves once the complete body has arrived. Removes the files when the answer has been sent or
 * its client has disconnected. Throws a Fault for an invalid multipart body, a second file or an excessive size, at
 * once and without reading the remaining body, and for a key that has ended meanwhile.
 */
export async function receiveUpload(
  request: FastifyRequest,
  reply: FastifyReply,
  { directory, maxBytes, fileField = "file", fileFields = { [fileField]: 1 } }: UploadOptions,
): Promise<Upload> {
  const announced = Number(request.headers["content-length"]);
  const contentType = request.headers["content-type"];
  if (contentType === undefined) throw invalidRequest("The request body must be multipart/form-data; none was sent.");
  if (/^application\/json\b/i.test(contentType)) throw invalidRequest("The request has no body.");
  endAfterAnswer(request.raw, reply);
  if (announced > maxBytes + OVERHEAD_BYTES) throw tooLarge(maxBytes, announced);
  const folder = await makeUploadFolder(directory);
  // The next start removes what cannot be removed now, for example because too many files are open.
  const remove = () => rm(folder, { recursive: true, force: true }).catch(() => {});
  reply.raw.once("close", () => void remove());
  if (reply.raw.destroyed) await remove();
  const upload = await parseBody(request.raw, contentType, { path: join(folder, "file"), maxBytes, fileFields });
  await authenticateAgain(request, reply);
  return upload;
}

/** Returns the file. Throws a Fault for a missing or empty file. */
export function requireFile({ file, fields }: Upload, fileField = "file"): NonNullable<Upload["file"]> {
  if (file === undefined) {
    const isText = fields.some(([name]) => name === fileField);
    const message = isText
      ? `The field '${fileField}' must be a file, with a file name.`
      : `Missing required parameter: '${fileField}'.`;
    throw invalidRequest(message, fileField, isText ? "invalid_type" : "missing_required_parameter");
  }
  if (file.bytes === 0) throw invalidRequest("The file is empty.", fileField, "invalid_value");
  return file;
}

export async function makeUploadFolder(directory: string): Promise<string> {
  try {
    // It may have been removed since startup.
    await mkdir(directory, { recursive: true, mode: 0o700 });
    return await mkdtemp(join(directory, `${processOwner()}.`));
  } catch (error) {
    throw toDiskFault(error as NodeJS.ErrnoException);
  }
}

function parseBody(
  body: IncomingMessage,
  contentType: string,
  { path, maxBytes, fileFields }: { path: string; maxBytes: number; fileFields: Readonly<Record<string, number>> },
): Promise<Upload> {
  const maxFiles = Object.values(fileFields).reduce((sum, max) => sum + max, 0);
  const [mainField = "file"] = Object.keys(fileFields);
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = [];
    const files: UploadedFile[] = [];
    const writes: Promise<void>[] = [];
    let totalBytes = 0;
    let fieldBytes = 0;
    const parser = openParser(body, contentType, { maxBytes, maxFiles });
    const failed = new AbortController();

    const fail = (failure: unknown) => {
      body.unpipe(parser);
      body.resume();
      reject(failure);
      // The parser does not end a part that it was reading: the file would stay open and keep its disk space.
      failed.abort();
    };
    const save = async (content: Readable, file: UploadedFile) => {
      content.on("data", (chunk: Buffer) => {
        file.bytes += chunk.length;
        totalBytes += chunk.length;
        if (totalBytes > maxBytes) fail(tooLarge(maxBytes, undefined));
      });
      await pipeline(content, createWriteStream(file.path, { flags: "wx" }), { signal: failed.signal });
    };
    parser.on("file", (name, content, fileName, _encoding, type) => {
      content.once("limit", () => fail(tooLarge(maxBytes, undefined)));
      // The body was truncated, which the parser reports itself.
      content.on("error", () => {});
      const refuse = (fault: Fault) => {
        content.resume();
        fail(fault);
      };
      if (!isNamed(name)) return refuse(unnamed());
      const field = Object.hasOwn(fileFields, name) ? name : name.replace(/\[\d*\]$/, "");
      const max = Object.hasOwn(fileFields, field) ? (fileFields[field] ?? 0) : 0;
      if (max === 0) return refuse(notAFile(name, Object.keys(fileFields)));
      const before = files.filter((file) => file.field === field).length;
      if (before >= max) return refuse(tooManyFiles(field, max));
      const place = files.length === 0 ? path : `${path}-${files.length}`;
      const file = { field, path: place, name: lastSegment(fileName), clientPath: fileName ?? "", type, bytes: 0 };
      files.push(file);
      const written = save(content, file);
      written.catch((error) => fail(toDiskFault(error)));
      writes.push(written);
    });
    parser.on("field", (name, value, isNameCut, isCut) => {
      if (!isNamed(name)) return fail(unnamed());
      if (isNameCut || isCut) return fail(invalidRequest(`A field may have at most ${FIELD_BYTES} bytes.`, name));
      fieldBytes += Buffer.byteLength(value);
      if (fieldBytes > FIELDS_BYTES)
        return fail(invalidRequest(`All fields together may have at most ${FIELDS_BYTES} bytes.`));
      fields.push([name, value]);
    });
    parser.on("filesLimit", () => fail(tooManyFiles(mainField, maxFiles)));
    parser.on("fieldsLimit", () => fail(invalidRequest(`At most ${FIELDS} fields can be sent.`)));
    // Parts without headers are neither fields nor files, but cost as much.
    parser.on("partsLimit", () => fail(invalidRequest(`At most ${FIELDS} fields and one file can be sent.`)));
    parser.on("error", () => fail(broken()));
    // A write error has been reported by then.
    parser.on("finish", () =>
      Promise.all(writes).then(
        () => resolve({ file: files[0], files, fields }),
        () => {},
      ),
    );
    body.once("aborted", () => fail(new Fault("client-left", "The client left.")));
    body.once("error", () => fail(new Fault("client-left", "The client left.")));
    body.pipe(parser);
  });
}

function notAFile(name: string, fileFields: readonly string[]): Fault {
  const fields = fileFields.map((each) => `'${each}'`).join(" and ");
  return invalidRequest(`The field '${name}' was sent as a file; only ${fields} may be one.`, name);
}

function tooManyFiles(field: string, max: number): Fault {
  if (max === 1) return invalidRequest("Exactly one file can be sent; there are more.", field);
  return invalidRequest(`At most ${max} files can be sent; there are more.`, field);
}

/** busboy also reports parts without a name. */
function isNamed(name: string | undefined): boolean {
  return name !== undefined;
}

function unnamed(): Fault {
  return invalidRequest("Every part of the multipart body needs a name in its Content-Disposition.");
}

function openParser(
  body: IncomingMessage,
  contentType: string,
  { maxBytes, maxFiles }: { maxBytes: number; maxFiles: number },
) {
  try {
    return new Busboy({
      headers: { ...body.headers, "content-type": contentType },
      limits: {
        ...{ fieldSize: FIELD_BYTES, fields: FIELDS, files: maxFiles, parts: FIELDS + maxFiles + 1 },
        ...{ fileSize: maxBytes, headerPairs: 50 },
      },
      // Skills have folders. Others use the name without them.
      preservePath: true,
    });
  } catch {
    throw invalidRequest("The Content-Type multipart/form-data needs a boundary.");
  }
}

/** Closes the connection a few seconds after the answer if the client is still sending its body. */
function endAfterAnswer(body: IncomingMessage, reply: FastifyReply): void {
  reply.raw.once("finish", () => {
    // Requests that the service makes itself have no connection, and are never complete.
    if (body.complete || body.readableEnded) return;
    body.resume();
    const cut = setTimeout(() => body.destroy(), LINGER_SECONDS * 1000);
    body.once("end", () => clearTimeout(cut));
    body.once("close", () => clearTimeout(cut));
  });
}

function lastSegment(fileName: string | undefined): string {
  return (fileName ?? "").split(/[/\\]/).at(-1)?.slice(0, 255) ?? "";
}

function isFull(code: string | undefined): boolean {
  return code === "ENOSPC" || code === "EDQUOT";
}

/** Returns a Fault for an error of a disk or folder that cannot take a file now, and any other one as it is. */
export function toDiskFault(error: NodeJS.ErrnoException): unknown {
  const { code = "" } = error;
  if (isFull(code)) {
    return unavailable("The disk has no space for this upload.", "server_is_overloaded", 60, error);
  }
  if (!NOT_NOW.has(code)) return error;
  return unavailable("This upload cannot be stored now. Retry in a few seconds.", "server_is_overloaded", 5, error);
}

function tooLarge(maxBytes: number, announced: number | undefined): Fault {
  const actualSize = announced === undefined ? "it is longer" : `the request has ${announced} bytes`;
  return new Fault("body-too-large", `The file may have at most ${maxBytes} bytes; ${actualSize}.`, { param: "file" });
}

function broken(): Fault {
  return invalidRequest("The body is not valid multipart/form-data: its boundaries do not fit the Content-Type's.");
}
