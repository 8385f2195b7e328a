/** `moderation` of a chat request and of its answer. */

import { z } from "zod";
import type { ModerationVerdict } from "../../../contracts/moderation-model.ts";
import { Fault } from "../../../kernel/faults.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { ResponseModeration } from "../../responses/response-answers.ts";
import { toResult } from "../moderations.ts";
import type { ChatModeration as ChatModerationAnswer } from "./completion-answers.ts";

const Direction = z
  .looseObject({ mode: z.enum(["score", "block"], { error: "it must be score or block" }) })
  .nullish()
  .transform((direction) => direction?.mode);

export const ChatModerationFields = {
  model: z
    .string()
    .min(1)
    .nullish()
    .transform((model) => model ?? undefined),
  policy: z.strictObject({ input: Direction, output: Direction }).nullish(),
};

const Fields = z.strictObject(ChatModerationFields);

export const ChatModeration = Fields.transform(toChatModerationRequest);

export function toChatModerationRequest({ model, policy }: z.output<typeof Fields>) {
  return { model, input: policy?.input, output: policy?.output };
}

export interface ModerationResults {
  model: string;
  input: ModerationVerdict | Fault | undefined;
  output: ModerationVerdict | Fault | undefined;
}

/** Renders the result in the format that OpenAI's clients have types for. */
export function toChatModeration({ model, input, output }: ModerationResults): AnswerOf<typeof ChatModerationAnswer> {
  return { input: toResults(model, input), output: toResults(model, output) };
}

function toResults(model: string, verdict: ModerationVerdict | Fault | undefined) {
  if (verdict instanceof Fault) return toModerationError(verdict);
  const results = verdict === undefined ? [] : [toModerationResult(model, verdict)];
  return { type: "moderation_results" as const, model, results };
}

/** Renders the result for a response, which has one result where a chat has a list. */
export function toResponseModeration({ model, input, output }: ModerationResults): AnswerOf<typeof ResponseModeration> {
  const toResultOrError = (verdict: ModerationVerdict | Fault | undefined) => {
    if (verdict instanceof Fault) return toModerationError(verdict);
    if (verdict !== undefined) return toModerationResult(model, verdict);
    return {
      type: "error" as const,
      code: "not_moderated",
      message: "The request did not ask for a moderation of this.",
    };
  };
  return { input: toResultOrError(input), output: toResultOrError(output) };
}

function toModerationError({ code, message }: Fault) {
  return { type: "error" as const, code: code ?? "moderation_failed", message };
}

function toModerationResult(model: string, verdict: ModerationVerdict) {
  return { type: "moderation_result" as const, model, ...toResult(verdict) };
}
