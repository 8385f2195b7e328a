import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes, scope } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { receiveUpload, requireFile, takeMultipart, type UploadOptions } from "../../http/upload.ts";
import type { Inference } from "../../inference/inference.ts";
import { File, FileForm, FileListQuery, readFileForm, toFileObject } from "../../wire/openai/files.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import { deleted, listOfEntries } from "../../wire/openapi/organization-answers.ts";
import type { FileStore } from "./file-store.ts";

interface OfFile {
  Params: { file: string };
}

export interface FileParts {
  files: FileStore;
  uploads: UploadOptions;
}

/** /v1/files */
export function files(inference: Inference, parts: FileParts): FastifyPluginAsync {
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
          answer: File,
        },
        async ({ caller, request, reply }) => {
          // Counts as a request, so that limits bound what a key can store.
          reply.headers(toRateLimitHeaders(await inference.admit(caller)));
          const projectId = projectOf(request);
          const { files: store, uploads } = parts;
          await store.checkRoom(projectId, Number(request.headers["content-length"] ?? 0));
          const upload = await receiveUpload(request, reply, uploads);
          const { purpose, expiresAfterSeconds } = readFileForm(upload.fields);
          const { path, name, bytes } = requireFile(upload);
          const filename = name === "" ? "file" : name;
          const createdBy = caller.keyId;
          const file = { projectId, purpose, filename, path, bytes, expiresAfterSeconds, createdBy };
          return toFileObject(await store.create(file));
        },
      ),
    ),
    operation(
      "GET /files",
      {
        summary: "Lists the files of the project, or those of `?purpose=`.",
        tag: "Batches",
        permission: "project",
        query: FileListQuery,
        answer: listOfEntries(File),
      },
      async ({ query: { after, limit, order, purpose }, request }) => {
        return toListBody(
          await parts.files.list({ projectId: projectOf(request), after, limit, order, purpose }),
          toFileObject,
        );
      },
    ),
    operation(
      "GET /files/:file",
      { summary: "Retrieves the metadata of a file.", tag: "Batches", permission: "project", answer: File },
      async ({ request }) => toFileObject(await parts.files.find(resourceOf(request))),
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
      { summary: "Deletes a file.", tag: "Batches", permission: "project", answer: deleted("file") },
      async ({ request }) => {
        const resource = resourceOf(request);
        await parts.files.delete(resource);
        return { id: resource.id, object: "file" as const, deleted: true };
      },
    ),
  );
}

function resourceOf(request: FastifyRequest<OfFile>) {
  return { projectId: projectOf(request), id: request.params.file };
}
