import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { toAnswerParts } from "../../wire/answer-parts.ts";
import { toChatModeration } from "../../wire/openai/chat-moderation.ts";
import { toErrorBody } from "../../wire/openai/error.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { ResponseEvents, toResponse, toResponseFrame, toResponseFrames } from "../../wire/responses/response-events.ts";
import { readResponsesBody, unknownFields } from "../../wire/responses/responses-body.ts";
import { toResponsesCall } from "../../wire/responses/responses-call.ts";
import { readTools } from "../../wire/responses/responses-tools.ts";
import { onDisconnect } from "../on-disconnect.ts";
import { reportIgnoredFields } from "../report-ignored-fields.ts";
import { sendAnswer } from "../send-answer.ts";

/** POST /v1/responses and /v1/responses/input_tokens; nothing is stored. */
export function responses(inference: Inference, policy: UnknownFieldsPolicy): FastifyPluginAsync {
  return async (app) => {
    app.post("/responses", async (request, reply) => {
      const body = readResponsesBody(request.body);
      request.record.model = body.model;
      const tools = readTools(body.tools ?? []);
      const ignored = [...unknownFields(body, policy), ...tools.hosted];
      const answer = await inference.chat(request.caller, toResponsesCall(body, tools, request.headers), {
        moderation: body.moderation,
        onDisconnect: onDisconnect(reply),
      });
      reportIgnoredFields(reply, ignored);
      const { model, moderation: found } = answer;
      const moderation = found && (() => toChatModeration(found));
      const summarizes = body.reasoning?.summary !== undefined;
      const rendered = new ResponseEvents({ body, model, names: tools.names, summarizes, moderation });
      const events = rendered.of(toAnswerParts(answer, true));
      if (body.stream !== true) return sendAnswer(reply, answer, { body: toResponse(events) });
      return sendAnswer(reply, answer, {
        events: toResponseFrames(events),
        toErrorFrame: (failure) => toResponseFrame(rendered.failed(toErrorBody(failure, request.id))),
      });
    });

    app.post("/responses/input_tokens", async (request, reply) => {
      const body = readResponsesBody(request.body);
      request.record.model = body.model;
      const tools = readTools(body.tools ?? []);
      reportIgnoredFields(reply, [...unknownFields(body, policy), ...tools.hosted]);
      const { request: prompt } = toResponsesCall(body, tools, request.headers);
      const counted = await inference.countPromptTokens(request.caller, prompt);
      reply.headers(toRateLimitHeaders(counted.rateLimitStatus));
      reply.header("x-parlance-token-count", counted.isEstimate ? "estimate" : "exact");
      return { object: "response.input_tokens", input_tokens: counted.promptTokens };
    });
  };
}
