import type { FastifyPluginAsync } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import {
  EmbeddingBody,
  EmbeddingList,
  ignoredEmbeddingFields,
  readEmbedding,
  toEmbeddingList,
} from "../../wire/openai/embeddings.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";

/** Clients send up to 300,000 token IDs in one request. */
const MAX_JSON_VALUES = 400_000;

/** POST /v1/embeddings */
export function embeddings(inference: Inference, unknownFields: UnknownFieldsPolicy): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /embeddings",
      {
        summary: "Creates embeddings of texts or token IDs.",
        tag: "Text",
        permission: "project",
        counts: "by-handler",
        body: EmbeddingBody,
        answer: EmbeddingList,
        route: { config: { maxJsonValues: MAX_JSON_VALUES } },
      },
      async (request, reply) => {
        reportIgnoredFields(reply, ignoredEmbeddingFields(request.body, unknownFields));
        const question = readEmbedding(request.body);
        request.record.model = question.model;
        const call = { ...question, callerHeaders: request.headers };
        const answer = await inference.embed(request.caller, call, onDisconnect(reply));
        const [result] = await Array.fromAsync(answer.events);
        if (result === undefined) throw new Error(`${answer.deployment} returned no embeddings`);
        const bytes = toEmbeddingList(answer.model, result, question.encoding);
        return sendAnswer(reply, answer, { bytes, contentType: "application/json; charset=utf-8" });
      },
    ),
  );
}
