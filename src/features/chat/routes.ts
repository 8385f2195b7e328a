import type { FastifyPluginAsync, FastifyReply } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import { sendEvents } from "../../http/send-events.ts";
import { WaitComments } from "../../http/wait-comments.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { Inference } from "../../inference/inference.ts";
import { toCompletion } from "../../wire/openai/chat/chat-answer.ts";
import { type ChatCompletionBody, readChatBody } from "../../wire/openai/chat/chat-body.ts";
import { toChatCall } from "../../wire/openai/chat/chat-call.ts";
import { toChatModeration } from "../../wire/openai/chat/chat-moderation.ts";
import { toFrames } from "../../wire/openai/chat/chat-stream.ts";
import { ignoredFields } from "../../wire/openai/chat/local-unsupported-fields.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/content-resolver.ts";

/** POST /v1/chat/completions */
export function chatCompletions(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  content?: BodyContent,
): FastifyPluginAsync {
  return async (app) => {
    app.post("/chat/completions", async (request, reply) => {
      const sent = readChatBody(request.body);
      request.record.model = sent.model;
      const body = content === undefined ? sent : await content(reply, sent, ["messages"]);
      const waiting = body.stream === true ? new WaitComments<ChatAnswer>() : undefined;
      const answering = inference.chat(request.caller, toChatCall(body, request.headers, unknownFields), {
        moderation: body.moderation,
        onDisconnect: onDisconnect(reply),
        onWait: waiting?.onWait,
      });
      if (waiting === undefined) {
        const answer = await answering;
        reportIgnored(reply, answer, body);
        const { model, moderation: found } = answer;
        const moderation = found && (() => toChatModeration(found));
        return sendAnswer(reply, answer, { body: toCompletion(answer, { model, moderation }) });
      }
      const answer = await waiting.answerOrWait(answering);
      if (answer === undefined) {
        const events = waiting.until(answering, (late) => {
          request.record.settlement = late.settlement;
          return toEvents(late, body);
        });
        return sendEvents(reply, events);
      }
      reportIgnored(reply, answer, body);
      return sendAnswer(reply, answer, { events: toEvents(answer, body) });
    });
  };
}

function toEvents(answer: ChatAnswer, body: ChatCompletionBody): AsyncIterable<string | Uint8Array> {
  const { model, moderation: found } = answer;
  const includeUsage = body.stream_options?.include_usage === true;
  return toFrames(answer, { model, includeUsage, moderation: found && (() => toChatModeration(found)) });
}

/** Reports fields that had no effect; an upstream received every field. */
function reportIgnored(reply: FastifyReply, { form }: ChatAnswer, body: ChatCompletionBody): void {
  if (form === "typed") reportIgnoredFields(reply, ignoredFields(body));
}
