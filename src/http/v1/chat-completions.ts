import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { toCompletion, toFrames } from "../../wire/openai/chat-answer.ts";
import { ChatCompletionBody } from "../../wire/openai/chat-body.ts";
import { toChatRequest } from "../../wire/openai/chat-request.ts";
import { parse } from "../../wire/openai/validate.ts";
import { disconnectSignal } from "../disconnect-signal.ts";
import { sendEvents } from "../send-events.ts";

/** POST /v1/chat/completions */
export function chatCompletions(inference: Inference): FastifyPluginAsync {
  return async (app) => {
    app.post("/chat/completions", async (request, reply) => {
      const body = parse(ChatCompletionBody, request.body);
      request.record.model = body.model;
      const { authorization: _secret, ...callerHeaders } = request.headers;
      const asked = { ...toChatRequest(body), callerHeaders };
      const answer = await inference.chat(request.caller, asked, disconnectSignal(reply.raw));
      request.record.settlement = answer.settled;
      reply.header("x-parlance-deployment", answer.deployment);
      if (body.stream !== true) return toCompletion(answer.model, answer.events);
      const includeUsage = body.stream_options?.include_usage === true;
      return sendEvents(reply, toFrames(answer.model, answer.events, { includeUsage }));
    });
  };
}
