import type { FastifyPluginAsync } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { toTextCompletion, toTextCompletionFrames } from "../../wire/openai/completions/completions-answer.ts";
import { readCompletionBody } from "../../wire/openai/completions/completions-body.ts";
import {
  ignoredCompletionFields,
  throwForCompletions,
  toCompletionCall,
} from "../../wire/openai/completions/completions-call.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";

/** Prompts may be arrays of token IDs. */
const MAX_JSON_VALUES = 400_000;

/** POST /v1/completions */
export function completions(inference: Inference, unknownFields: UnknownFieldsPolicy): FastifyPluginAsync {
  return async (app) => {
    app.post("/completions", { config: { maxJsonValues: MAX_JSON_VALUES } }, async (request, reply) => {
      const body = readCompletionBody(request.body);
      request.record.model = body.model;
      const call = toCompletionCall(body, request.headers, unknownFields);
      const options = { moderation: undefined, onDisconnect: onDisconnect(reply) };
      const answer = await inference.chat(request.caller, call, options).catch(throwForCompletions);
      const { model } = answer;
      // An upstream received every field.
      if (answer.form === "typed") reportIgnoredFields(reply, ignoredCompletionFields(body));
      if (body.stream === true) {
        return sendAnswer(reply, answer, { events: toTextCompletionFrames(answer, { model, body }) });
      }
      return sendAnswer(reply, answer, { body: toTextCompletion(answer, { model, body }) });
    });
  };
}
