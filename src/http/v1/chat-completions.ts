import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../accounts/caller.ts";
import type { Inference } from "../../inference/inference.ts";
import { type ModeratedAnswer, type ModeratedChatOptions, moderatedChat } from "../../inference/moderated-chat.ts";
import { type DemandedModeration, type ModerationPolicy, moderationPolicy } from "../../inference/moderation-policy.ts";
import { toCompletion } from "../../wire/openai/chat-answer.ts";
import { type ChatCompletionBody, readChatBody } from "../../wire/openai/chat-body.ts";
import { frameReader, toChatModeration } from "../../wire/openai/chat-moderation.ts";
import { toJudgedInput } from "../../wire/openai/chat-moderation-input.ts";
import { toChatRequest } from "../../wire/openai/chat-request.ts";
import { toFrames } from "../../wire/openai/chat-stream.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import { whenClientLeaves } from "../client-leaves.ts";
import { sendEvents } from "../send-events.ts";

const JSON_TYPE = "application/json; charset=utf-8";

/** What the project of a caller demands for all its chats. */
type ModerationOf = (caller: Caller) => DemandedModeration | undefined;

/** POST /v1/chat/completions */
export function chatCompletions(inference: Inference, moderationOf: ModerationOf): FastifyPluginAsync {
  return async (app) => {
    app.post("/chat/completions", async (request, reply) => {
      const body = readChatBody(request.body);
      request.record.model = body.model;
      const asked = toChatRequest(body, request.headers);
      const { caller } = request;
      const policy = moderationPolicy(body.moderation, moderationOf(caller), (id) => inference.catalogIdOf(id));
      const answer = await answered(
        { inference, caller, request: asked, whenClientLeaves: whenClientLeaves(reply) },
        body,
        policy,
      );
      request.record.settlement = answer.settlement;
      reply.header("x-parlance-deployment", answer.deployment).headers(toRateLimitHeaders(answer.standing));
      const { judged: found } = answer;
      const judged = found === undefined || policy?.isShown !== true ? undefined : () => toChatModeration(found);
      if (body.stream !== true) {
        reply.header("content-type", JSON_TYPE);
        return toCompletion(answer.model, answer.events, judged);
      }
      const includeUsage = body.stream_options?.include_usage === true;
      return sendEvents(reply, toFrames(answer.model, answer.events, { includeUsage, judged }));
    });
  };
}

type Asked = Omit<ModeratedChatOptions, "input" | "policy" | "reader">;

function answered(
  asked: Asked,
  body: ChatCompletionBody,
  policy: ModerationPolicy | undefined,
): Promise<Partial<Pick<ModeratedAnswer, "judged">> & Awaited<ReturnType<Inference["chat"]>>> {
  if (policy === undefined) return asked.inference.chat(asked.caller, asked.request, asked.whenClientLeaves);
  return moderatedChat({ ...asked, input: toJudgedInput(body), policy, reader: frameReader });
}
