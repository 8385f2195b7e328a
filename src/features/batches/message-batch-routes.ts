import { createWriteStream } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import type { Inference } from "../../inference/inference.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { processOwner } from "../../kernel/process/process-owner.ts";
import { PAGE_QUERY, pageOf, toPage, toPageRequest } from "../../wire/anthropic/lists.ts";
import {
  checkRequests,
  DeletedMessageBatch,
  MESSAGE_ENDPOINT,
  MessageBatch,
  MessageBatchBody,
  MessageBatchResult,
  toInputLines,
  toMessageBatch,
  toResultLine,
} from "../../wire/anthropic/message-batches.ts";
import { toRateLimitHeaders } from "../../wire/anthropic/rate-limit-headers.ts";
import { named } from "../../wire/openapi/named.ts";
import { type FileStore, readLines } from "../files/index.ts";
import type { BatchRow } from "./batch-rows.ts";
import type { Batches } from "./batches.ts";

interface MessageBatchParts {
  batches: Batches;
  files: FileStore;
  /** Folder for temporary files. */
  directory: string;
  maxLines: number;
}

interface OfBatch {
  Params: { batch: string };
}

const MessageBatchQuery = lazy.looseObject(() => PAGE_QUERY);
const MessageBatchList = named(
  "MessageBatchList",
  lazy.object(() => pageOf(MessageBatch)),
);
const COMMON = { tag: "Batches", permission: "project" } as const;
const JSON_LINES = "application/x-ndjson";

/** /v1/messages/batches: the batches of the endpoint /v1/messages, in Anthropic's format. */
export function messageBatches(inference: Inference, parts: MessageBatchParts): FastifyPluginAsync {
  const { batches, files } = parts;
  return routes(
    operation(
      "POST /messages/batches",
      {
        ...COMMON,
        counts: "by-handler",
        summary: "Creates a batch of messages.",
        body: MessageBatchBody,
        answer: MessageBatch,
      },
      async ({ body: { requests }, caller, request, reply }) => {
        // Counts as a request, so that limits bound how many batches a key can create.
        reply.headers(toRateLimitHeaders(await inference.admit(caller))).header("request-id", request.id);
        checkRequests(requests, parts.maxLines);
        const project = { projectId: projectOf(request), keyId: caller.keyId };
        const input = await storeInput(project, toInputLines(requests));
        const created = await batches.create({
          ...project,
          endpoint: MESSAGE_ENDPOINT,
          inputFileId: input.id,
          ownsInput: true,
          completionWindow: "24h",
          windowSeconds: DAY_SECONDS,
          outputExpiresAfterSeconds: undefined,
          metadata: undefined,
          total: requests.length,
        });
        return shown(request, created);
      },
    ),
    operation(
      "GET /messages/batches",
      {
        ...COMMON,
        summary: "Lists the batches of messages, newest first.",
        query: MessageBatchQuery,
        answer: MessageBatchList,
      },
      async ({ query, request }) => {
        const page = { ...toPageRequest(query), projectId: projectOf(request), endpoint: MESSAGE_ENDPOINT };
        return toPage(await batches.list(page), (batch) => shown(request, batch));
      },
    ),
    operation(
      "GET /messages/batches/:batch",
      { ...COMMON, summary: "Retrieves a batch of messages and its progress.", answer: MessageBatch },
      async ({ request }) => shown(request, await find(request)),
    ),
    operation(
      "POST /messages/batches/:batch/cancel",
      {
        ...COMMON,
        counts: "never",
        summary: "Cancels a batch of messages; those answered by then are results.",
        answer: MessageBatch,
      },
      async ({ request }) => {
        const { id, projectId } = await find(request);
        return shown(request, await batches.cancel({ id, projectId }));
      },
    ),
    operation(
      "DELETE /messages/batches/:batch",
      { ...COMMON, summary: "Deletes a batch of messages that has ended.", answer: DeletedMessageBatch },
      async ({ request }) => {
        const { id, projectId } = await find(request);
        await batches.delete({ id, projectId });
        return { id, type: "message_batch_deleted" as const };
      },
    ),
    operation(
      "GET /messages/batches/:batch/results",
      {
        ...COMMON,
        summary: "Streams the results of a batch of messages that has ended, as lines of JSON.",
        content: [JSON_LINES],
        events: MessageBatchResult,
      },
      async ({ request, reply }) => {
        const { endedAt, projectId, outputFileId, errorFileId } = await find(request);
        const ids = [outputFileId, errorFileId].filter((id) => id !== null);
        if (endedAt === null || ids.length === 0) {
          throw new Fault("not-found", "The batch has no results yet. They are there once it has ended.");
        }
        // A file that has expired is an error rather than fewer results.
        for (const id of ids) await files.find({ projectId, id });
        return sendBytes(reply, JSON_LINES, readResults(projectId, ids));
      },
    ),
  );

  /** Throws a Fault when the project has no such batch of messages. */
  async function find(request: FastifyRequest<OfBatch>): Promise<BatchRow> {
    const resource = { projectId: projectOf(request), id: request.params.batch };
    const batch = await batches.find(resource);
    if (batch.endpoint === MESSAGE_ENDPOINT) return batch;
    throw new Fault("not-found", `No batch of messages found with id '${resource.id.slice(0, 100)}'.`);
  }

  function shown(request: FastifyRequest, batch: BatchRow) {
    const origin = request.server.publicUrl ?? `${request.protocol}://${request.host}`;
    return toMessageBatch(batch, origin);
  }

  async function storeInput({ projectId, keyId }: { projectId: string; keyId: string }, lines: Iterable<string>) {
    const directory = await mkdtemp(join(parts.directory, `${processOwner()}.`));
    try {
      const path = join(directory, "input");
      await pipeline(Readable.from(lines), createWriteStream(path, { mode: 0o600 }));
      const { size: bytes } = await stat(path);
      return await files.create({
        projectId,
        purpose: "batch",
        filename: "message-batch.jsonl",
        path,
        bytes,
        createdBy: keyId,
      });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }

  async function* readResults(projectId: string, ids: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const id of ids) {
      for await (const { bytes } of readLines(await files.read({ projectId, id }), Number.MAX_SAFE_INTEGER)) {
        if (bytes !== undefined && bytes.length > 0) yield Buffer.from(toResultLine(bytes.toString()));
      }
    }
  }
}
