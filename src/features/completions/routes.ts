import type { FastifyPluginAsync } from "fastify";
import { chatHandler } from "../../http/answer-chat.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import type { Inference } from "../../inference/inference.ts";
import { fimFormat } from "../../wire/mistral/fim.ts";
import { FimBody } from "../../wire/mistral/fim-body.ts";
import { ChatCompletion, ChatCompletionEvent } from "../../wire/openai/chat/completion-answers.ts";
import { CompletionBody } from "../../wire/openai/completions/completions-body.ts";
import { TextCompletion, TextCompletionEvent } from "../../wire/openai/completions/text-completion-answers.ts";
import { textCompletionsFormat } from "../../wire/openai/completions/text-completions.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";

/** Prompts may be arrays of token IDs. */
const MAX_JSON_VALUES = 400_000;

/** POST /v1/completions, and Mistral's /v1/fim/completions */
export function completions(inference: Inference, unknownFields: UnknownFieldsPolicy): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /completions",
      {
        summary: "Continues prompts without a chat template, streamed or not (legacy).",
        tag: "Chat",
        permission: "project",
        counts: "by-handler",
        body: CompletionBody,
        answer: TextCompletion,
        content: ["text/event-stream"],
        events: TextCompletionEvent,
        route: { config: { maxJsonValues: MAX_JSON_VALUES } },
      },
      chatHandler(inference, textCompletionsFormat, unknownFields),
    ),
    rawOperation(
      "POST /fim/completions",
      {
        summary: "Fills in the gap between a prompt and a suffix in Mistral's format, streamed or not.",
        tag: "Chat",
        permission: "project",
        counts: "by-handler",
        body: FimBody,
        answer: ChatCompletion,
        content: ["text/event-stream"],
        events: ChatCompletionEvent,
      },
      chatHandler(inference, fimFormat, unknownFields),
    ),
  );
}
