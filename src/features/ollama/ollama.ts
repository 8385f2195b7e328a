/** Ollama's API, for clients that speak no other. */

import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { answerChat, formatContext } from "../../http/answer-chat.ts";
import { acceptAnyJsonType } from "../../http/json-body.ts";
import { operation, rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import type { Inference } from "../../inference/inference.ts";
import { type OllamaOperation, toLoadAnswer } from "../../wire/ollama/chat-answer.ts";
import { OllamaChatBody, OllamaGenerateBody } from "../../wire/ollama/chat-body.ts";
import { OLLAMA_VERSION, readShow, ShowBody, toRunning, toShow, toTags } from "../../wire/ollama/models.ts";
import {
  OllamaChat,
  OllamaChatLine,
  OllamaGenerate,
  OllamaGenerateLine,
  OllamaModel,
  OllamaModels,
  OllamaVersion,
} from "../../wire/ollama/ollama-answers.ts";
import { NDJSON, type OllamaContext, ollamaChatFormat, ollamaGenerateFormat } from "../../wire/ollama/ollama-chat.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { ollamaEmbeddings } from "./embeddings.ts";
import { withoutLatest } from "./model-name.ts";

const ALL = { includesWildcards: false, onlyAccessGroups: false };

/** Routes below /api. */
export function ollama(inference: Inference, unknownFields: UnknownFieldsPolicy): FastifyPluginAsync {
  return routes(
    // curl -d and some clients send JSON as another type.
    acceptAnyJsonType,
    operation(
      "GET /version",
      {
        summary: "Returns the version of Ollama whose API this is.",
        tag: "Ollama",
        permission: "project",
        answer: OllamaVersion,
      },
      async () => ({ version: OLLAMA_VERSION }),
    ),
    operation(
      "GET /tags",
      {
        summary: "Lists the chat and embedding models in Ollama's format.",
        tag: "Ollama",
        permission: "project",
        answer: OllamaModels,
      },
      async ({ caller }) => toTags(await list(caller)),
    ),
    operation(
      "GET /ps",
      {
        summary: "Lists the loaded models in Ollama's format.",
        tag: "Ollama",
        permission: "project",
        answer: OllamaModels,
      },
      async ({ caller }) => toRunning(await list(caller)),
    ),
    rawOperation(
      "POST /show",
      {
        summary: "Describes a model in Ollama's format.",
        tag: "Ollama",
        permission: "project",
        counts: "by-handler",
        body: ShowBody,
        answer: OllamaModel,
      },
      async (request) => {
        await inference.admit(request.caller);
        return toShow(inference.models.retrieve(request.caller, withoutLatest(inference, readShow(request.body))));
      },
    ),
    rawOperation(
      "POST /chat",
      {
        summary: "Answers a chat in Ollama's format, as lines of JSON or not.",
        tag: "Ollama",
        permission: "project",
        counts: "by-handler",
        body: OllamaChatBody,
        answer: OllamaChat,
        content: [NDJSON],
        events: OllamaChatLine,
      },
      async (request, reply) => {
        return answer(request, reply, "chat", ollamaChatFormat);
      },
    ),
    rawOperation(
      "POST /generate",
      {
        summary: "Answers a prompt in Ollama's format; `raw` and `suffix` bypass the chat template.",
        tag: "Ollama",
        permission: "project",
        counts: "by-handler",
        body: OllamaGenerateBody,
        answer: OllamaGenerate,
        content: [NDJSON],
        events: OllamaGenerateLine,
      },
      async (request, reply) => {
        return answer(request, reply, "generate", ollamaGenerateFormat);
      },
    ),
    (app) => app.register(ollamaEmbeddings(inference)),
  );

  function contextOf(request: FastifyRequest): OllamaContext {
    const idOf = (name: string) => withoutLatest(inference, name);
    return { ...formatContext(request, unknownFields), idOf, beganAt: request.record.beganAt };
  }

  async function list(caller: FastifyRequest["caller"]) {
    await inference.admit(caller);
    return inference.models.list(caller, ALL);
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: OllamaOperation,
    format: typeof ollamaChatFormat,
  ): Promise<unknown> {
    const chat = format.read(request.body, contextOf(request));
    const { model, call, ignored } = chat;
    if (call !== undefined) return answerChat(inference, format, chat, reply);
    request.record.model = model;
    reportIgnoredFields(reply, ignored);
    await inference.admit(request.caller);
    inference.models.findForTask(request.caller, withoutLatest(inference, model), "chat");
    const isUnload = (request.body as { keep_alive?: unknown }).keep_alive === 0;
    return toLoadAnswer({ operation, model }, isUnload);
  }
}
