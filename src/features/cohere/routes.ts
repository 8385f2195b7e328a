/** Cohere's API, for clients that speak no other. */

import type { FastifyPluginAsync } from "fastify";
import { chatHandler } from "../../http/answer-chat.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { cohereChatFormat } from "../../wire/cohere/chat.ts";
import { CohereChat, CohereChatEvent } from "../../wire/cohere/chat-answer.ts";
import { CohereChatBody } from "../../wire/cohere/chat-body.ts";
import { CohereEmbedBody, CohereEmbeddings, readCohereEmbed, toCohereEmbeddings } from "../../wire/cohere/embed.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/index.ts";

/** POST /chat and /embed below the scope's prefix. */
export function cohere(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  content: BodyContent,
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /chat",
      {
        summary: "Answers a chat in Cohere's format, streamed or not.",
        tag: "Cohere",
        permission: "project",
        counts: "by-handler",
        body: CohereChatBody,
        answer: CohereChat,
        content: ["text/event-stream"],
        events: CohereChatEvent,
      },
      chatHandler(inference, cohereChatFormat, unknownFields, async (reply, chat) => {
        chat.body = await content(reply, chat.body, ["messages"]);
      }),
    ),
    rawOperation(
      "POST /embed",
      {
        summary: "Creates embeddings of texts in Cohere's format.",
        tag: "Cohere",
        permission: "project",
        counts: "by-handler",
        body: CohereEmbedBody,
        answer: CohereEmbeddings,
      },
      async (request, reply) => {
        const { texts, types, ignored, ...question } = readCohereEmbed(request.body, unknownFields);
        request.record.model = question.model;
        reportIgnoredFields(reply, ignored);
        const call = { ...question, callerHeaders: request.headers };
        const answer = await inference.embed(request.caller, call, onDisconnect(reply));
        const [result] = await Array.fromAsync(answer.events);
        if (result === undefined) throw new Error(`${answer.deployment} returned no embeddings`);
        return sendAnswer(reply, answer, { body: toCohereEmbeddings(answer.id, { texts, types }, result) });
      },
    ),
  );
}
