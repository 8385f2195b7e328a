/**
 * Conversations as encrypted summaries. POST /v1/responses/compact adds the messages of the user; a summary within a
 * response (`context_management`) replaces all items before it.
 */

import { z } from "zod";
import { newId } from "../../kernel/id.ts";
import { lazy } from "../../kernel/lazy.ts";
import { optional } from "../openai/optional.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import type { CompactedResponse } from "./response-answers.ts";
import type { CompleteResponse } from "./response-events.ts";
import { Input, type InputItem, type Prompt, SUMMARY_INTRODUCTION, typeOf } from "./responses-input.ts";
import { toStoredItems } from "./stored-items.ts";
import { isInstruction, newestOf } from "./truncate-prompt.ts";

export const CompactBody = named(
  "CompactResponseBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    input: optional(Input),
    instructions: optional(z.string()),
    previous_response_id: optional(z.string().min(1)),
    prompt_cache_key: optional(z.string()),
    service_tier: optional(z.string()),
  })),
);

/** What the model is asked after the conversation. */
const QUESTION =
  "Summarize this conversation for whoever continues it without having read it: the goal, what was decided and why, what was done and with which results, names, paths and numbers that will be needed, and what remains to be done. Write only the summary.";

/** Returns the prompt that asks for a summary. */
export function toSummaryPrompt({ context, input }: Prompt): Prompt {
  return { context, input: [...toItems(input), { role: "user", content: QUESTION }] };
}

/** Returns the prompt with a summary in place of all but instructions and the newest items; undefined if there are no others. */
export function compactedPrompt({ context, input }: Prompt, summary: string): Prompt | undefined {
  const items = [...context, ...toItems(input)];
  const newest = newestOf(items);
  const earlier = items.slice(0, newest);
  const instructions = earlier.filter(isInstruction);
  if (instructions.length === earlier.length) return undefined;
  return { context: [], input: [...instructions, toSummaryItem(summary), ...items.slice(newest)] };
}

/** Returns the item of a summary that replaces what comes before it. `seal` encrypts the summary. */
export function toCompactionItem(summary: string, seal: (summary: string) => string) {
  return { id: newId("cmp_"), type: "compaction", encrypted_content: seal(`${REPLACES_EARLIER}${summary}`) };
}

type Compacted = AnswerOf<typeof CompactedResponse>;

/** Renders the compacted conversation. `seal` encrypts the summary. */
export function toCompactedResponse(
  { context, input }: Prompt,
  summary: CompleteResponse,
  seal: (summary: string) => string,
): Compacted {
  const userMessages = [...context, ...toItems(input)].filter(
    (item) => typeOf(item) === "message" && item.role === "user",
  );
  const compaction = { id: newId("cmp_"), type: "compaction", encrypted_content: seal(textOf(summary)) };
  return {
    id: newId("resp_"),
    object: "response.compaction",
    created_at: Math.floor(Date.now() / 1000),
    // Messages of the request, whose schema has validated them.
    output: [...toStoredItems(userMessages), compaction] as Compacted["output"],
    usage: summary.usage as Compacted["usage"],
  };
}

/** Begins a summary that replaces all items before it. */
const REPLACES_EARLIER = "\u001e";

/** Replaces compacted conversations by their summaries, with what these replace. `open` returns undefined for those of other services. */
export function withSummaries({ context, input }: Prompt, open: (content: string) => string | undefined): Prompt {
  if (typeof input === "string" && !context.some(isCompaction)) return { context, input };
  let read: { item: InputItem; isContext: boolean }[] = [];
  for (const [index, item] of [...context, ...toItems(input)].entries()) {
    const isContext = index < context.length;
    const summary = isCompaction(item) ? open(String(item.encrypted_content)) : undefined;
    if (summary === undefined) {
      read.push({ item, isContext });
      continue;
    }
    const replacesEarlier = summary.startsWith(REPLACES_EARLIER);
    if (replacesEarlier) read = read.filter((earlier) => isInstruction(earlier.item));
    const text = replacesEarlier ? summary.slice(REPLACES_EARLIER.length) : summary;
    read.push({ item: toSummaryItem(text), isContext });
  }
  const itemsOf = (ofContext: boolean) =>
    read.filter(({ isContext }) => isContext === ofContext).map(({ item }) => item);
  return { context: itemsOf(true), input: typeof input === "string" ? input : itemsOf(false) };
}

function toSummaryItem(summary: string): InputItem {
  return { type: "message", role: "developer", content: `${SUMMARY_INTRODUCTION}\n\n${summary}` };
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
