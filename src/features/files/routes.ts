import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { z } from "zod";
import { speaksAnthropic } from "../../http/error-format.ts";
import { takeMultipart } from "../../http/form-scopes.ts";
import { operation, rawOperation, routes, scope } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { receiveUpload, requireFile, type UploadOptions } from "../../http/upload.ts";
import { Fault } from "../../kernel/faults.ts";
import {
  DeletedFile,
  FileMetadata,
  FileMetadataList,
  FileMetadataQuery,
  readFileMetadataForm,
  toFileMetadata,
} from "../../wire/anthropic/files.ts";
import { toPage, toPageRequest } from "../../wire/anthropic/lists.ts";
import { File, FileForm, FileListQuery, readFileForm, toFileObject } from "../../wire/openai/files.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { deleted, listOfEntries } from "../../wire/openapi/list-answers.ts";
import { named } from "../../wire/openapi/named.ts";
import type { FileRow } from "./file-rows.ts";
import type { FileStore } from "./file-store.ts";
import { mediaTypeOf } from "./media-type.ts";

/** Clients with the header `anthropic-version` get Anthropic's format. */
const AnyFile = named("FileAnswer", z.union([File, FileMetadata]));
const AnyFileList = named("FileListAnswer", z.union([listOfEntries(File), FileMetadataList]));
const AnyDeletion = named("FileDeletionAnswer", z.union([deleted("file"), DeletedFile]));
const NO_BYTES = Buffer.alloc(0);

interface OfFile {
  Params: { file: string };
}

export interface FileParts {
  files: FileStore;
  uploads: UploadOptions;
}

/** /v1/files */
export function files(parts: FileParts): FastifyPluginAsync {
  return routes(
    scope(
      takeMultipart,
      operation(
        "POST /files",
        {
          summary: "Uploads a file, such as the input of a batch.",
          tag: "Batches",
          permission: "project",
          form: FileForm,
          answer: AnyFile,
        },
        async ({ caller, request, reply }) => {
          const projectId = projectOf(request);
          const { files: store, uploads } = parts;
          await store.checkRoom(projectId, Number(request.headers["content-length"] ?? 0));
          const upload = await receiveUpload(request, reply, uploads);
          const read = speaksAnthropic(request) ? readFileMetadataForm : readFileForm;
          const { purpose, expiresAfterSeconds } = read(upload.fields);
          const { path, name, bytes } = requireFile(upload);
          const filename = name === "" ? "file" : name;
          const createdBy = caller.keyId;
          const file = { projectId, purpose, filename, path, bytes, expiresAfterSeconds, createdBy };
          return shown(request, await store.create(file));
        },
      ),
    ),
    rawOperation(
      "GET /files",
      {
        summary: "Lists the files of the project, or those of `?purpose=`.",
        tag: "Batches",
        permission: "project",
        query: FileListQuery,
        answer: AnyFileList,
      },
      async (request) => {
        if (speaksAnthropic(request)) return listForAnthropic(request);
        const { after, limit, order, purpose } = parse(FileListQuery, request.query);
        return toListBody(
          await parts.files.list({ projectId: projectOf(request), after, limit, order, purpose }),
          toFileObject,
        );
      },
    ),
    operation(
      "GET /files/:file",
      { summary: "Retrieves the metadata of a file.", tag: "Batches", permission: "project", answer: AnyFile },
      async ({ request }) => shown(request, await parts.files.find(resourceOf(request))),
    ),
    operation(
      "GET /files/:file/content",
      {
        summary: "Downloads a file.",
        tag: "Batches",
        permission: "project",
        content: ["application/octet-stream"],
      },
      async ({ request, reply }) => {
        const resource = resourceOf(request);
        const { bytes } = await parts.files.find(resource);
        reply.header("content-length", bytes).header("content-disposition", `attachment; filename="${resource.id}"`);
        return sendBytes(reply, "application/octet-stream", await parts.files.read(resource));
      },
    ),
    operation(
      "DELETE /files/:file",
      { summary: "Deletes a file.", tag: "Batches", permission: "project", answer: AnyDeletion },
      async ({ request }) => {
        const resource = resourceOf(request);
        await parts.files.delete(resource);
        const { id } = resource;
        if (speaksAnthropic(request)) return { id, type: "file_deleted" as const };
        return { id, object: "file" as const, deleted: true };
      },
    ),
  );

  async function listForAnthropic(request: FastifyRequest) {
    const { "ids[]": listed, ids = listed, ...query } = parse(FileMetadataQuery, request.query);
    const projectId = projectOf(request);
    if (ids === undefined) {
      const page = await parts.files.list({ ...toPageRequest(query), projectId, purpose: undefined });
      return toPage(page, toMetadata);
    }
    const named = [ids].flat().slice(0, query.limit);
    const files = await Promise.all(named.map((id) => parts.files.find({ projectId, id }).catch(ifMissing)));
    return toPage({ entries: files.filter((file) => file !== undefined), hasMore: false }, toMetadata);
  }
}

function shown(request: FastifyRequest, file: FileRow) {
  return speaksAnthropic(request) ? toMetadata(file) : toFileObject(file);
}

function ifMissing(failure: unknown): undefined {
  if (!(failure instanceof Fault) || failure.kind !== "not-found") throw failure;
}

function toMetadata(file: FileRow) {
  return toFileMetadata(file, mediaTypeOf(NO_BYTES, file.filename));
}

function resourceOf(request: FastifyRequest<OfFile>) {
  return { projectId: projectOf(request), id: request.params.file };
}
