import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import {
  EmbedBody,
  EmbeddingsBody,
  readOllamaEmbed,
  readOllamaEmbeddings,
  toEmbedAnswer,
  toEmbeddingsAnswer,
  type Vectors,
} from "../../wire/ollama/embed.ts";
import { OllamaEmbed, OllamaEmbedding } from "../../wire/ollama/ollama-answers.ts";
import type { ParsedEmbedding } from "../../wire/openai/embeddings.ts";
import { withoutLatest } from "./model-name.ts";

/** POST /api/embed and /api/embeddings */
export function ollamaEmbeddings(inference: Inference): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /embed",
      {
        summary: "Creates embeddings in Ollama's format.",
        tag: "Ollama",
        permission: "project",
        counts: "by-handler",
        body: EmbedBody,
        answer: OllamaEmbed,
      },
      async (request, reply) => {
        const question = readOllamaEmbed(request.body);
        return embed(request, reply, question, (result) =>
          toEmbedAnswer(question.model, result, request.record.beganAt),
        );
      },
    ),
    rawOperation(
      "POST /embeddings",
      {
        summary: "Creates one embedding in Ollama's former format.",
        tag: "Ollama",
        permission: "project",
        counts: "by-handler",
        body: EmbeddingsBody,
        answer: OllamaEmbedding,
      },
      async (request, reply) => {
        return embed(request, reply, readOllamaEmbeddings(request.body), toEmbeddingsAnswer);
      },
    ),
  );

  async function embed(
    request: FastifyRequest,
    reply: FastifyReply,
    body: ParsedEmbedding,
    render: (result: Vectors) => object,
  ): Promise<unknown> {
    request.record.model = body.model;
    const question = { ...body, model: withoutLatest(inference, body.model), callerHeaders: request.headers };
    const answer = await inference.embed(request.caller, question, onDisconnect(reply));
    const [result] = await Array.fromAsync(answer.events);
    if (result === undefined) throw new Error(`${answer.deployment} returned no embeddings`);
    return sendAnswer(reply, answer, { body: render(result) });
  }
}
