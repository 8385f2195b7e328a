/** Google's Gemini API, for clients that speak no other. */

import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { answerChat, formatContext } from "../../http/answer-chat.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, type RouteAdder, rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { turnBetweenParts } from "../../kernel/async/turn-between-parts.ts";
import { lazy } from "../../kernel/lazy.ts";
import {
  BatchEmbedAnswer,
  BatchEmbedBody,
  EmbedContentAnswer,
  EmbedContentBody,
  readBatchEmbed,
  readEmbedContent,
  toBatchEmbedAnswer,
  toEmbedAnswer,
} from "../../wire/gemini/embed-content.ts";
import {
  GenerateContentAnswer,
  GenerateContentEvent,
  GenerateContentEvents,
} from "../../wire/gemini/generate-answer.ts";
import {
  CountTokensBody,
  GenerateContentBody,
  readCountTokensBody,
  readGenerateBody,
} from "../../wire/gemini/generate-body.ts";
import { ignoredFields, toChatBody, toPromptParts } from "../../wire/gemini/generate-call.ts";
import { contentArrayFormat, type GeminiContext, generateContentFormat } from "../../wire/gemini/generate-content.ts";
import {
  GeminiModel,
  GeminiModelList,
  GeminiModelQuery,
  toGeminiModel,
  toGeminiModels,
} from "../../wire/gemini/models.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { named } from "../../wire/openapi/named.ts";
import type { Operation } from "../../wire/openapi/operation.ts";
import type { BodyContent } from "../files/index.ts";

const ALL = { includesWildcards: false, onlyAccessGroups: false };
const StreamQuery = lazy.object(() => ({
  alt: z.enum(["sse", "json"]).optional().describe("`sse`: server-sent events; otherwise the stream is a JSON array."),
}));
const TokenCount = named("GeminiTokenCount", z.object({ totalTokens: z.int().min(0) }));

type ModelHandler = (request: FastifyRequest, reply: FastifyReply, model: string) => unknown;

/** GET models and models/{id}. */
export function geminiModels(inference: Inference): FastifyPluginAsync {
  return routes(
    operation(
      "GET /models",
      {
        summary: "Lists the chat and embedding models in Gemini's format.",
        tag: "Gemini",
        permission: "project",
        query: GeminiModelQuery,
        answer: GeminiModelList,
      },
      async ({ query, caller }) => {
        await inference.admit(caller);
        return toGeminiModels(inference.models.list(caller, ALL), query);
      },
    ),
    operation(
      "GET /models/*",
      {
        summary: "Describes a model in Gemini's format.",
        tag: "Gemini",
        permission: "project",
        wildcard: "model",
        answer: GeminiModel,
      },
      async ({ params, caller }) => {
        await inference.admit(caller);
        return toGeminiModel(inference.models.retrieve(caller, params["*"]));
      },
    ),
  );
}

/** POST models/{id}:{method} */
export function geminiMethods(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  content: BodyContent,
): FastifyPluginAsync {
  return routes(
    onModel(
      "generateContent",
      { summary: "Answers a chat in Gemini's format.", body: GenerateContentBody, answer: GenerateContentAnswer },
      (request, reply, model) => answer(request, reply, { model, isStreamed: false }),
    ),
    onModel(
      "streamGenerateContent",
      {
        summary: "Streams the answer of a chat in Gemini's format.",
        query: StreamQuery,
        body: GenerateContentBody,
        answer: GenerateContentEvents,
        content: ["text/event-stream"],
        events: GenerateContentEvent,
      },
      (request, reply, model) => answer(request, reply, { model, isStreamed: true }),
    ),
    onModel(
      "countTokens",
      {
        summary: "Counts the tokens of a prompt in Gemini's format; an estimate for upstreams.",
        body: CountTokensBody,
        answer: TokenCount,
      },
      async (request, reply, model) => {
        const body = readCountTokensBody(request.body);
        reportIgnoredFields(reply, ignoredFields(body, unknownFields, true));
        await turnBetweenParts(request.bodyBytes);
        const chat = toChatBody(model, body);
        await turnBetweenParts(request.bodyBytes);
        const prompt = toPromptParts(body, chat, formatContext(request, unknownFields));
        await turnBetweenParts(request.bodyBytes);
        const counted = await inference.countPromptTokens(request.caller, { ...prompt, model });
        reply.header("x-parlance-token-count", counted.isEstimate ? "estimate" : "exact");
        return { totalTokens: counted.promptTokens };
      },
    ),
    onModel(
      "embedContent",
      { summary: "Creates an embedding in Gemini's format.", body: EmbedContentBody, answer: EmbedContentAnswer },
      (request, reply, model) => embed(reply, readEmbedContent(request.body, model, unknownFields), toEmbedAnswer),
    ),
    onModel(
      "batchEmbedContents",
      { summary: "Creates embeddings in Gemini's format.", body: BatchEmbedBody, answer: BatchEmbedAnswer },
      (request, reply, model) => embed(reply, readBatchEmbed(request.body, model, unknownFields), toBatchEmbedAnswer),
    ),
  );

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    about: Pick<GeminiContext, "model" | "isStreamed">,
  ): Promise<unknown> {
    const isArray = about.isStreamed && (request.query as { alt?: string }).alt !== "sse";
    const format = isArray ? contentArrayFormat : generateContentFormat;
    const body = readGenerateBody(request.body);
    await turnBetweenParts(request.bodyBytes);
    const chat = format.read(body, { ...formatContext(request, unknownFields), ...about });
    await turnBetweenParts(request.bodyBytes);
    chat.body = await content(reply, chat.body, ["messages"]);
    return answerChat(inference, format, chat, reply);
  }

  async function embed(
    reply: FastifyReply,
    { ignored, ...question }: ReturnType<typeof readEmbedContent>,
    render: typeof toEmbedAnswer | typeof toBatchEmbedAnswer,
  ): Promise<unknown> {
    const { caller, headers } = reply.request;
    reportIgnoredFields(reply, ignored);
    const embedding = await inference.embed(caller, { ...question, callerHeaders: headers }, onDisconnect(reply));
    const [result] = await Array.fromAsync(embedding.events);
    if (result === undefined) throw new Error(`${embedding.deployment} returned no embeddings`);
    return sendAnswer(reply, embedding, { body: render(result) });
  }
}

/** Declares a method of models, such as `POST /models/{model}:generateContent`; IDs of models contain slashes. */
function onModel(
  customMethod: string,
  definition: Pick<Operation, "summary" | "body" | "query" | "answer" | "content" | "events">,
  handle: ModelHandler,
): RouteAdder {
  const declared = {
    ...definition,
    tag: "Gemini",
    permission: "project",
    counts: "by-handler",
    wildcard: "model",
    customMethod,
  } as const;
  return rawOperation("POST /models/*", declared, async (request, reply) => {
    const model = request.params["*"].slice(0, -customMethod.length - 1);
    request.record.model = model;
    return handle(request, reply, model);
  });
}
