import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import {
  type ModeratedAnswer,
  type ModeratedChatOptions,
  type ModerationPolicy,
  moderatedChat,
} from "../../inference/moderated-chat.ts";
import { toCompletion } from "../../wire/openai/chat-answer.ts";
import { ChatCompletionBody } from "../../wire/openai/chat-body.ts";
import { frameReader, toChatModeration } from "../../wire/openai/chat-moderation.ts";
import { toChatRequest } from "../../wire/openai/chat-request.ts";
import { toFrames } from "../../wire/openai/chat-stream.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
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
      const clientLeft = disconnectSignal(reply.raw);
      const answer = await answered({ inference, caller: request.caller, request: asked, clientLeft }, body.moderation);
      request.record.settlement = answer.settled;
      reply.header("x-parlance-deployment", answer.deployment).headers(toRateLimitHeaders(answer.standing));
      const { judged: found } = answer;
      const judged = found === undefined ? undefined : () => toChatModeration(found);
      if (body.stream !== true) return toCompletion(answer.model, answer.events, judged);
      const includeUsage = body.stream_options?.include_usage === true;
      return sendEvents(reply, toFrames(answer.model, answer.events, { includeUsage, judged }));
    });
  };
}

type Asked = Omit<ModeratedChatOptions, "policy" | "reader">;

function answered(
  asked: Asked,
  policy: ModerationPolicy | undefined,
): Promise<Partial<Pick<ModeratedAnswer, "judged">> & Awaited<ReturnType<Inference["chat"]>>> {
  const { inference, caller, request, clientLeft } = asked;
  if (policy === undefined) return inference.chat(caller, request, clientLeft);
  return moderatedChat({ ...asked, policy, reader: frameReader });
}
