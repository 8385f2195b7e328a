import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { takeMultipart } from "../../http/form-scopes.ts";
import { operation, routes, scope } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { receiveUpload, requireFile, type UploadOptions } from "../../http/upload.ts";
import { toFileObject } from "../../wire/openai/files.ts";
import { toSeconds } from "../../wire/openai/organization/organization-list.ts";
import {
  CompleteUploadBody,
  toUploadObject,
  Upload,
  UploadBody,
  UploadPart,
  UploadPartFiles,
  UploadPartForm,
} from "../../wire/openai/uploads.ts";
import type { Uploads } from "./uploads.ts";

interface OfUpload {
  Params: { upload: string };
}

/** /v1/uploads */
export function uploadRoutes(uploads: Uploads, parts: UploadOptions): FastifyPluginAsync {
  return routes(
    scope(
      takeMultipart,
      operation(
        "POST /uploads/:upload/parts",
        {
          summary: "Adds a part to an upload, as the file `data`.",
          tag: "Batches",
          permission: "project",
          form: UploadPartForm,
          files: UploadPartFiles,
          answer: UploadPart,
        },
        async ({ request, reply }) => {
          const upload = await uploads.findOpen(resourceOf(request));
          const received = await receiveUpload(request, reply, { ...parts, fileField: "data" });
          const part = await uploads.addPart(upload, requireFile(received, "data"));
          const created_at = toSeconds(part.createdAt);
          return { id: part.id, object: "upload.part" as const, created_at, upload_id: upload.id };
        },
      ),
    ),
    operation(
      "POST /uploads",
      {
        summary: "Begins the upload of a large file in parts, for an hour.",
        tag: "Batches",
        permission: "project",
        body: UploadBody,
        answer: Upload,
      },
      async ({ body, caller, request }) => {
        const { filename, purpose, bytes, expires_after: expiry } = body;
        const fileExpiresAfterSeconds = expiry?.seconds ?? null;
        const projectId = projectOf(request);
        const createdBy = caller.keyId;
        return toUploadObject(
          await uploads.create({ projectId, filename, purpose, bytes, fileExpiresAfterSeconds, createdBy }),
          null,
        );
      },
    ),
    operation(
      "POST /uploads/:upload/complete",
      {
        summary: "Completes an upload: its parts, in the order of `part_ids`, become a file.",
        tag: "Batches",
        permission: "project",
        body: CompleteUploadBody,
        answer: Upload,
      },
      async ({ body: { part_ids: ids, md5 }, request }) => {
        const open = await uploads.findOpen(resourceOf(request));
        const { upload, file } = await uploads.complete(open, ids, md5);
        return toUploadObject(upload, toFileObject(file));
      },
    ),
    operation(
      "POST /uploads/:upload/cancel",
      {
        summary: "Cancels an upload; its parts are deleted.",
        tag: "Batches",
        permission: "project",
        counts: "never",
        answer: Upload,
      },
      async ({ request }) => {
        const upload = await uploads.findOpen(resourceOf(request));
        return toUploadObject(await uploads.cancel(upload), null);
      },
    ),
  );
}

function resourceOf(request: FastifyRequest<OfUpload>) {
  return { projectId: projectOf(request), id: request.params.upload };
}
