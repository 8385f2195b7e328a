import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { Batch, BatchBody, BatchListQuery, toBatchObject, windowSeconds } from "../../wire/openai/batches.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { listOfEntries } from "../../wire/openapi/list-answers.ts";
import type { Batches } from "./batches.ts";

interface OfBatch {
  Params: { batch: string };
}

/** /v1/batches */
export function batches(service: Batches): FastifyPluginAsync {
  return routes(
    operation(
      "POST /batches",
      {
        summary: "Creates a batch from an uploaded file of requests.",
        tag: "Batches",
        permission: "project",
        body: BatchBody,
        answer: Batch,
      },
      async ({ body, caller, request }) => {
        const created = await service.create({
          projectId: projectOf(request),
          keyId: caller.keyId,
          endpoint: body.endpoint,
          inputFileId: body.input_file_id,
          ownsInput: false,
          completionWindow: body.completion_window,
          windowSeconds: windowSeconds(body.completion_window),
          outputExpiresAfterSeconds: body.output_expires_after?.seconds,
          metadata: body.metadata,
          total: 0,
        });
        return toBatchObject(created);
      },
    ),
    operation(
      "GET /batches",
      {
        summary: "Lists the batches of the project, newest first.",
        tag: "Batches",
        permission: "project",
        query: BatchListQuery,
        answer: listOfEntries(Batch),
      },
      async ({ query: { after, limit }, request }) => {
        return toListBody(
          await service.list({ projectId: projectOf(request), after, limit, order: "desc" }),
          toBatchObject,
        );
      },
    ),
    operation(
      "GET /batches/:batch",
      {
        summary: "Retrieves a batch and its progress.",
        tag: "Batches",
        permission: "project",
        answer: Batch,
      },
      async ({ request }) => toBatchObject(await service.find(resourceOf(request))),
    ),
    operation(
      "POST /batches/:batch/cancel",
      {
        summary: "Cancels a batch; the lines answered by then are in its output file.",
        tag: "Batches",
        permission: "project",
        counts: "never",
        answer: Batch,
      },
      async ({ request }) => toBatchObject(await service.cancel(resourceOf(request))),
    ),
  );
}

function resourceOf(request: FastifyRequest<OfBatch>) {
  return { projectId: projectOf(request), id: request.params.batch };
}
