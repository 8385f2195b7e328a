/** Ollama's API, for clients that speak no other. */

import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { acceptAnyJsonType } from "../../http/json-body.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { type OllamaOperation, toLine, toLines, toLoadAnswer, toObject } from "../../wire/ollama/chat-answer.ts";
import { type OllamaCall, readOllamaChat, readOllamaGenerate } from "../../wire/ollama/chat-body.ts";
import { toOllamaErrorBody } from "../../wire/ollama/error.ts";
import { OLLAMA_VERSION, readShow, toRunning, toShow, toTags } from "../../wire/ollama/models.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { ollamaEmbeddings } from "./embeddings.ts";
import { withoutLatest } from "./model-name.ts";

const NDJSON = "application/x-ndjson";
const ALL = { includesWildcards: false, onlyAccessGroups: false };

/** Routes below /api. */
export function ollama(inference: Inference, unknownFields: UnknownFieldsPolicy): FastifyPluginAsync {
  return async (app) => {
    // curl -d and some clients send JSON as another type.
    acceptAnyJsonType(app);
    app.get("/version", async () => ({ version: OLLAMA_VERSION }));

    app.get("/tags", async ({ caller }) => toTags(await list(caller)));

    app.get("/ps", async ({ caller }) => toRunning(await list(caller)));

    app.post("/show", async (request) => {
      await inference.admit(request.caller);
      return toShow(inference.models.retrieve(request.caller, withoutLatest(inference, readShow(request.body))));
    });

    app.post("/chat", async (request, reply) => {
      return answer(request, reply, "chat", readOllamaChat(request.body, contextOf(request)));
    });

    app.post("/generate", async (request, reply) => {
      return answer(request, reply, "generate", readOllamaGenerate(request.body, contextOf(request)));
    });

    app.register(ollamaEmbeddings(inference));
  };

  function contextOf({ headers: callerHeaders }: FastifyRequest) {
    return { callerHeaders, policy: unknownFields, idOf: (name: string) => withoutLatest(inference, name) };
  }

  async function list(caller: FastifyRequest["caller"]) {
    await inference.admit(caller);
    return inference.models.list(caller, ALL);
  }

  async function answer(
    request: FastifyRequest,
    reply: FastifyReply,
    operation: OllamaOperation,
    { model, call, isStreamed, ignored }: OllamaCall,
  ): Promise<unknown> {
    request.record.model = model;
    reportIgnoredFields(reply, ignored);
    if (call === undefined) {
      await inference.admit(request.caller);
      inference.models.findForTask(request.caller, withoutLatest(inference, model), "chat");
      const isUnload = (request.body as { keep_alive?: unknown }).keep_alive === 0;
      return toLoadAnswer({ operation, model }, isUnload);
    }
    const options = { moderation: undefined, onDisconnect: onDisconnect(reply) };
    const answered = await inference.chat(request.caller, call, options);
    const rendering = { operation, model, beganAt: request.record.beganAt };
    if (!isStreamed) return sendAnswer(reply, answered, { body: toObject(answered, rendering) });
    return sendAnswer(reply, answered, {
      events: toLines(answered, rendering),
      contentType: NDJSON,
      toErrorFrame: (failure) => toLine(toOllamaErrorBody(failure, request.id)),
    });
  }
}
