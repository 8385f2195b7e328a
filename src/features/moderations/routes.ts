import type { FastifyPluginAsync } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import {
  ignoredModerationFields,
  Moderation,
  ModerationBody,
  readModeration,
  toModeration,
} from "../../wire/openai/moderations.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import type { BodyContent } from "../files/index.ts";

/** POST /v1/moderations */
export function moderations(
  inference: Inference,
  maxInputs: number,
  unknownFields: UnknownFieldsPolicy,
  content?: BodyContent,
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /moderations",
      {
        summary: "Classifies text or images.",
        tag: "Text",
        permission: "project",
        counts: "by-handler",
        body: ModerationBody,
        answer: Moderation,
      },
      async (request, reply) => {
        reportIgnoredFields(reply, ignoredModerationFields(request.body, unknownFields));
        const sent = readModeration(request.body, maxInputs);
        request.record.model = sent.model;
        const { input } = request.body as { input: unknown };
        const body = { model: sent.model, input };
        const resolved = content === undefined ? body : await content(reply, body, ["input"], { task: "moderation" });
        const question = resolved.input === input ? sent : readModeration(resolved, maxInputs);
        const call = { ...question, callerHeaders: request.headers, counted: request.record.counted };
        const answer = await inference.moderate(request.caller, call, onDisconnect(reply));
        const verdicts = Array.fromAsync(answer.events);
        return sendAnswer(reply, answer, { body: verdicts.then(([first = []]) => toModeration(answer, first)) });
      },
    ),
  );
}
