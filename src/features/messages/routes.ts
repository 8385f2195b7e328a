import type { FastifyPluginAsync } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { toAnswerParts } from "../../wire/answer-parts.ts";
import { toAnthropicErrorBody } from "../../wire/anthropic/error.ts";
import { toMessage } from "../../wire/anthropic/messages-answer.ts";
import { readCountTokensBody, readMessagesBody } from "../../wire/anthropic/messages-body.ts";
import {
  checkCountedFields,
  ignoredFields,
  showsThinking,
  toMessagesCall,
  toPromptParts,
} from "../../wire/anthropic/messages-call.ts";
import { toErrorFrame, toMessageFrames } from "../../wire/anthropic/messages-stream.ts";
import { toRateLimitHeaders } from "../../wire/anthropic/rate-limit-headers.ts";
import { toForwardedAnswer, toForwardedFrames } from "../../wire/forwarded-answer.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/content-resolver.ts";

/** POST /v1/messages and /v1/messages/count_tokens, in Anthropic's format. */
export function messages(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  content?: BodyContent,
): FastifyPluginAsync {
  return async (app) => {
    app.post("/messages", async (request, reply) => {
      const sent = readMessagesBody(request.body);
      request.record.model = sent.model;
      const body = content === undefined ? sent : await content(reply, sent, ["messages", "mcp_servers"]);
      const answer = await inference.chat(request.caller, toMessagesCall(body, request.headers, unknownFields), {
        moderation: undefined,
        onDisconnect: onDisconnect(reply),
      });
      reply.header("request-id", request.id).headers(toRateLimitHeaders(answer.rateLimitStatus));
      const toErrorEvent = (failure: unknown) => toErrorFrame(toAnthropicErrorBody(failure, request.id));
      if (answer.form === "forwarded") {
        if (body.stream !== true) return sendAnswer(reply, answer, { body: toForwardedAnswer(answer.events) });
        return sendAnswer(reply, answer, { events: toForwardedFrames(answer.events), toErrorFrame: toErrorEvent });
      }
      reportIgnoredFields(reply, ignoredFields(body));
      const events = toAnswerParts(answer, showsThinking(body));
      if (body.stream !== true) return sendAnswer(reply, answer, { body: toMessage(events, answer.model) });
      return sendAnswer(reply, answer, {
        events: toMessageFrames(events, answer.model),
        toErrorFrame: toErrorEvent,
      });
    });

    app.post("/messages/count_tokens", async (request, reply) => {
      const body = readCountTokensBody(request.body);
      request.record.model = body.model;
      checkCountedFields(body, unknownFields);
      const counted = await inference.countPromptTokens(request.caller, { ...toPromptParts(body), model: body.model });
      reply.headers(toRateLimitHeaders(counted.rateLimitStatus)).header("request-id", request.id);
      reply.header("x-parlance-token-count", counted.isEstimate ? "estimate" : "exact");
      reportIgnoredFields(reply, ignoredFields(body));
      return { input_tokens: counted.promptTokens };
    });
  };
}
