import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import type { Inference } from "../../inference/inference.ts";
import { Batch, BatchBody, BatchListQuery, toBatchObject, windowSeconds } from "../../wire/openai/batches.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import { parse } from "../../wire/openai/validate.ts";
import { listOfEntries } from "../../wire/openapi/organization-answers.ts";
import type { Batches } from "./batches.ts";

interface OfBatch {
  Params: { batch: string };
}

/** /v1/batches */
export function batches(inference: Inference, service: Batches): FastifyPluginAsync {
  return async (app) => {
    app.post(
      "/batches",
      operation({
        summary: "Creates a batch from an uploaded file of requests.",
        tag: "Batches",
        permission: "project",
        body: BatchBody,
        answer: Batch,
      }),
      async (request, reply) => {
        const body = parse(BatchBody, request.body);
        // Counts as a request, so that limits bound how many batches a key can create.
        reply.headers(toRateLimitHeaders(await inference.admit(request.caller)));
        const created = await service.create({
          projectId: projectOf(request),
          keyId: request.caller.keyId,
          endpoint: body.endpoint,
          inputFileId: body.input_file_id,
          completionWindow: body.completion_window,
          windowSeconds: windowSeconds(body.completion_window),
          outputExpiresAfterSeconds: body.output_expires_after?.seconds,
          metadata: body.metadata,
        });
        return toBatchObject(created);
      },
    );

    app.get(
      "/batches",
      operation({
        summary: "Lists the batches of the project, newest first.",
        tag: "Batches",
        permission: "project",
        query: BatchListQuery,
        answer: listOfEntries(Batch),
      }),
      async (request) => {
        const { after, limit } = parse(BatchListQuery, request.query);
        return toListBody(
          await service.list({ projectId: projectOf(request), after, limit, order: "desc" }),
          toBatchObject,
        );
      },
    );

    app.get<OfBatch>(
      "/batches/:batch",
      operation({
        summary: "Retrieves a batch and its progress.",
        tag: "Batches",
        permission: "project",
        answer: Batch,
      }),
      async (request) => toBatchObject(await service.find(resourceOf(request))),
    );

    app.post<OfBatch>(
      "/batches/:batch/cancel",
      operation({
        summary: "Cancels a batch; the lines answered by then are in its output file.",
        tag: "Batches",
        permission: "project",
        answer: Batch,
      }),
      async (request) => toBatchObject(await service.cancel(resourceOf(request))),
    );
  };
}

function resourceOf(request: FastifyRequest<OfBatch>) {
  return { projectId: projectOf(request), id: request.params.batch };
}
