import type { FastifyPluginAsync } from "fastify";
import type { Inference } from "../../inference/inference.ts";
import { toCompletion } from "../../wire/openai/chat-answer.ts";
import { readChatBody } from "../../wire/openai/chat-body.ts";
import { toChatCall } from "../../wire/openai/chat-call.ts";
import { toChatModeration } from "../../wire/openai/chat-moderation.ts";
import { toFrames } from "../../wire/openai/chat-stream.ts";
import { ignoredFields } from "../../wire/openai/local-unsupported-fields.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { onDisconnect } from "../on-disconnect.ts";
import { reportIgnoredFields } from "../report-ignored-fields.ts";
import { sendAnswer } from "../send-answer.ts";

/** POST /v1/chat/completions */
export function chatCompletions(inference: Inference, unknownFields: UnknownFieldsPolicy): FastifyPluginAsync {
  return async (app) => {
    app.post("/chat/completions", async (request, reply) => {
      const body = readChatBody(request.body);
      request.record.model = body.model;
      const answer = await inference.chat(request.caller, toChatCall(body, request.headers, unknownFields), {
        moderation: body.moderation,
        onDisconnect: onDisconnect(reply),
      });
      // An upstream received every field.
      if (answer.form === "typed") reportIgnoredFields(reply, ignoredFields(body));
      const { model, moderation: found } = answer;
      const moderation = found && (() => toChatModeration(found));
      if (body.stream !== true) return sendAnswer(reply, answer, { body: toCompletion(answer, { model, moderation }) });
      const includeUsage = body.stream_options?.include_usage === true;
      return sendAnswer(reply, answer, { events: toFrames(answer, { model, includeUsage, moderation }) });
    });
  };
}
