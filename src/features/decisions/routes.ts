import type { FastifyPluginAsync } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { Decision, toDecision } from "../../wire/openai/decisions/decision-answers.ts";
import { DecisionBody, ignoredDecisionFields, readDecision } from "../../wire/openai/decisions/decisions-body.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { type ParamNames, throwRenamed } from "../../wire/rename-params.ts";
import { fieldsOfUpstreams } from "../../wire/upstream-fields.ts";
import type { BodyContent } from "../files/index.ts";
import { askQuestions } from "./ask-questions.ts";

/** Fields that errors of chat models name. */
const PARAMS: ParamNames = [
  [/^messages\b/, "input"],
  [/^(?:logprobs|top_logprobs|reasoning_effort|max_tokens|max_completion_tokens|temperature|n)$/, "model"],
];

/** POST /v1/decisions */
export function decisions(
  inference: Inference,
  unknownFields: UnknownFieldsPolicy,
  content: BodyContent,
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /decisions",
      {
        summary: "Answers predicates, choices and scores about an input with probabilities.",
        tag: "Chat",
        permission: "project",
        counts: "by-handler",
        body: DecisionBody,
        answer: Decision,
      },
      async (request, reply) => {
        const ignored = ignoredDecisionFields(request.body, unknownFields);
        reportIgnoredFields(reply, ignored);
        const { body, input: sent, questions } = readDecision(request.body);
        request.record.model = body.model;
        const { input } = await content(reply, { model: body.model, input: sent }, ["input"]);
        const { caller, headers, record } = request;
        const asking = askQuestions(
          { inference, caller, callerHeaders: headers, onDisconnect: onDisconnect(reply), counted: record.counted },
          { body, input, questions },
        );
        const { answer, answers, usage } = await asking.catch((failure: unknown) => throwRenamed(failure, PARAMS));
        if (!answer.isUpstream) reportIgnoredFields(reply, [...ignored, ...fieldsOfUpstreams(body)]);
        return sendAnswer(reply, answer, { body: toDecision(answer.model, answers, usage) });
      },
    ),
  );
}
