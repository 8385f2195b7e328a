/** POST /v1/responses/compact: a conversation as its user messages and an encrypted summary of the rest. */

import { z } from "zod";
import { newId } from "../../kernel/id.ts";
import { optional } from "../openai/optional.ts";
import type { CompactedResponse } from "../openapi/model-answers.ts";
import type { AnswerOf } from "../openapi/named.ts";
import type { CompleteResponse } from "./response-events.ts";
import { Input, type InputItem, type Prompt, typeOf } from "./responses-input.ts";
import { toStoredItems } from "./stored-items.ts";

export const CompactBody = z.looseObject({
  model: z.string().min(1),
  input: optional(Input),
  instructions: optional(z.string()),
  previous_response_id: optional(z.string().min(1)),
  prompt_cache_key: optional(z.string()),
  service_tier: optional(z.string()),
});

/** What the model is asked after the conversation. */
const QUESTION =
  "Summarize this conversation for whoever continues it without having read it: the goal, what was decided and why, what was done and with which results, names, paths and numbers that will be needed, and what remains to be done. Write only the summary.";

const INTRODUCTION = "Summary of the conversation before this point:";

/** Returns the prompt that asks for a summary. */
export function toSummaryPrompt({ context, input }: Prompt): Prompt {
  return { context, input: [...toItems(input), { role: "user", content: QUESTION }] };
}

/** Renders the compacted conversation. `seal` encrypts the summary. */
export function toCompactedResponse(
  { context, input }: Prompt,
  summary: CompleteResponse,
  seal: (summary: string) => string,
): AnswerOf<typeof CompactedResponse> {
  const userMessages = [...context, ...toItems(input)].filter(
    (item) => typeOf(item) === "message" && item.role === "user",
  );
  const compaction = { id: newId("cmp_"), type: "compaction", encrypted_content: seal(textOf(summary)) };
  return {
    id: newId("resp_"),
    object: "response.compaction",
    created_at: Math.floor(Date.now() / 1000),
    output: [...(toStoredItems(userMessages) as { id: string; type: string }[]), compaction],
    usage: summary.usage as Record<string, unknown>,
  };
}

/** Replaces compacted conversations by their summaries. `open` returns undefined for those of other services. */
export function withSummaries({ context, input }: Prompt, open: (content: string) => string | undefined): Prompt {
  if (typeof input === "string" && !context.some(isCompaction)) return { context, input };
  const replace = (item: InputItem): InputItem => {
    const summary = isCompaction(item) ? open(String(item.encrypted_content)) : undefined;
    if (summary === undefined) return item;
    return { type: "message", role: "developer", content: `${INTRODUCTION}\n\n${summary}` };
  };
  const isUnchanged = typeof input === "string" || !input.some(isCompaction);
  return { context: context.map(replace), input: isUnchanged ? input : input.map(replace) };
}

function isCompaction(item: InputItem): boolean {
  return item.type === "compaction";
}

function toItems(input: Prompt["input"]): readonly InputItem[] {
  return typeof input === "string" ? [{ type: "message", role: "user", content: input }] : input;
}

function textOf({ output }: CompleteResponse): string {
  const messages = output.filter(({ type }) => type === "message");
  return messages
    .flatMap(({ content }) => content as { text?: string }[])
    .map(({ text = "" }) => text)
    .join("");
}
