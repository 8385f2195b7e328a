/** `moderation` of a chat request and of its answer. */

import { z } from "zod";
import type { ModerationVerdict } from "../../../contracts/engine.ts";
import { Fault } from "../../../kernel/faults.ts";
import { toResult } from "../moderations.ts";

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
export function toChatModeration({ model, input, output }: ModerationResults): Record<string, unknown> {
  return { input: toResults(model, input), output: toResults(model, output) };
}

function toResults(model: string, verdict: ModerationVerdict | Fault | undefined): Record<string, unknown> {
  if (verdict instanceof Fault) {
    return { type: "error", code: verdict.code ?? "moderation_failed", message: verdict.message };
  }
  const results = verdict === undefined ? [] : [{ type: "moderation_result", model, ...toResult(verdict) }];
  return { type: "moderation_results", model, results };
}
