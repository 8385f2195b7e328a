import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import {
  ignoredRerankFields,
  RankingAnswer,
  RerankBody,
  readRerank,
  throwForRerank,
  toRanking,
} from "../../wire/openai/rerank.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";

interface RerankOptions {
  /** Whether answers contain the documents unless the request says otherwise. */
  returnsDocuments: boolean;
}

/** POST /rerank below the scope's prefix. */
export function rerank(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  { returnsDocuments }: RerankOptions,
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /rerank",
      {
        summary: returnsDocuments
          ? "Ranks documents by relevance to a query, in the shape of Jina and Cohere."
          : "The same as `POST /v1/rerank`, without the documents unless `return_documents` is true.",
        tag: returnsDocuments ? "Text" : "Cohere",
        permission: "project",
        counts: "by-handler",
        body: RerankBody,
        answer: RankingAnswer,
      },
      async (request: FastifyRequest, reply: FastifyReply) => {
        reportIgnoredFields(reply, ignoredRerankFields(request.body, unknownFields));
        const read = readRerank(request.body);
        const rerankRequest = { ...read, returnsDocuments: read.returnsDocuments ?? returnsDocuments };
        request.record.model = rerankRequest.model;
        const { model, query, documents } = rerankRequest;
        const question = { model, query, documents, callerHeaders: request.headers };
        const answer = await inference.rerank(request.caller, question, onDisconnect(reply)).catch(throwForRerank);
        const [result] = await Array.fromAsync(answer.events);
        if (result === undefined) throw new Error(`${answer.deployment} returned no scores`);
        return sendAnswer(reply, answer, { body: toRanking(answer, rerankRequest, result) });
      },
    ),
  );
}
