import type { FastifyPluginAsync } from "fastify";
import { formatContext } from "../../http/answer-chat.ts";
import { holderOf } from "../../http/body-memory.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import type { Inference } from "../../inference/inference.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { toAnswerParts } from "../../wire/answer-parts.ts";
import { ignoredBy } from "../../wire/chat-format.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { CompactBody, toCompactedResponse, toSummaryPrompt } from "../../wire/responses/compaction.ts";
import { throwForResponses } from "../../wire/responses/error-params.ts";
import { CompactedResponse } from "../../wire/responses/response-answers.ts";
import { type CompleteResponse, ResponseEvents, toResponse } from "../../wire/responses/response-events.ts";
import { renderingOf, responsesFormat, toCall } from "../../wire/responses/responses-format.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import type { BodyContent } from "../files/index.ts";
import { resolvePrompt } from "./resolve-prompt.ts";
import type { ResponseStorage } from "./response-storage.ts";

/** POST /v1/responses/compact */
export function compactResponses(
  inference: Inference,
  policy: UnknownFieldsPolicy,
  storage: ResponseStorage | undefined,
  content: BodyContent,
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /responses/compact",
      {
        summary: "Compacts a conversation to its user messages and an encrypted summary, which a model writes.",
        tag: "Responses",
        permission: "project",
        counts: "by-handler",
        body: CompactBody,
        answer: CompactedResponse,
      },
      async (request, reply) => {
        const chat = responsesFormat.read(request.body, formatContext(request, policy));
        const { body } = chat;
        request.record.model = chat.model;
        if (storage === undefined) throw notEncrypted();
        const projectId = projectOf(request);
        const prompt = await resolvePrompt(storage, body, { projectId, hold: holderOf(reply) });
        const sent = { model: body.model, ...toSummaryPrompt(prompt) };
        const { context, input } = await content(reply, sent, ["context", "input"]);
        const call = toTypedCall(toCall({ ...chat, prompt: { context, input } }));
        const answer = await inference
          .chat(request.caller, call, {
            ...{ moderation: undefined, onDisconnect: onDisconnect(reply) },
            counted: request.record.counted,
          })
          .catch((failure: unknown) => throwForResponses(failure, body));
        const events = new ResponseEvents({
          ...{ body, answer, ...renderingOf(chat) },
          moderation: () => undefined,
          store: false,
        });
        const summary = (await toResponse(events.of(toAnswerParts(answer, true, true)))) as CompleteResponse;
        reportIgnoredFields(reply, ignoredBy(responsesFormat, answer, chat));
        const seal = (text: string) => storage.summaries.seal(projectId, text);
        return sendAnswer(reply, answer, { body: toCompactedResponse(prompt, summary, seal) });
      },
    ),
  );
}

function notEncrypted() {
  const message =
    "Responses are not stored here, so there is no key to encrypt a summary: send the conversation itself.";
  return unsupportedValue(message, "input");
}
