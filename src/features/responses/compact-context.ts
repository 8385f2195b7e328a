/** `context_management`: a prompt above its threshold becomes a summary, which the response shows as its first item. */

import type { Caller } from "../../contracts/caller.ts";
import { type AskChat, runWithin } from "../../http/answer-chat.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { ChatOptions } from "../../inference/chat-requests.ts";
import type { Inference } from "../../inference/inference.ts";
import { unsupportedValue } from "../../kernel/faults.ts";
import { addTokens, type TokenUsage } from "../../kernel/usage.ts";
import { toAnswerParts } from "../../wire/answer-parts.ts";
import { compactedPrompt, toCompactionItem, toSummaryPrompt } from "../../wire/responses/compaction.ts";
import type { ResponsePart, ServiceItem } from "../../wire/responses/item-events.ts";
import { readResponsesBody } from "../../wire/responses/responses-body.ts";
import {
  type ResponseChat,
  type ResponseParts,
  responsesFormat,
  toCall,
} from "../../wire/responses/responses-format.ts";
import { readTools } from "../../wire/responses/responses-tools.ts";
import { withoutOldest } from "../../wire/responses/truncate-prompt.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import { combineSettlements } from "../tools/index.ts";

interface CompactionOptions {
  inference: Inference;
  caller: Caller;
  /** Encrypts a summary; undefined where there is no key. */
  seal: ((summary: string) => string) | undefined;
  /** Runs a response with tools of this service; undefined: its model alone answers. */
  ask: AskChat<ResponseChat> | undefined;
}

/** Returns what runs a response whose context is managed here; `ask` for others, which upstreams may manage themselves. */
export function withCompaction(chat: ResponseChat, options: CompactionOptions): AskChat<ResponseChat> | undefined {
  const { inference, caller, seal, ask } = options;
  const threshold = chat.body.context_management?.[0]?.compact_threshold;
  if (threshold === undefined) return ask;
  if (ask === undefined && inference.mayForward(caller, chat.model, toCall(chat).passThrough)) return undefined;
  if (seal === undefined) {
    const message =
      "Responses are not stored here, so there is no key to encrypt a summary: send 'truncation': 'auto' instead.";
    throw unsupportedValue(message, "context_management");
  }
  const askModel: AskChat<ResponseChat> = (each, chatOptions) =>
    runWithin(responsesFormat, each, async (shorter) =>
      // The summary before it may have taken minutes.
      inference.chat(await inference.currentCaller(caller), toTypedCall(toCall(shorter)), chatOptions),
    );
  return (each, chatOptions) => run(each, chatOptions, { ...options, ask: ask ?? askModel, seal, threshold });
}

type RunOptions = Required<CompactionOptions> & {
  ask: AskChat<ResponseChat>;
  seal: (summary: string) => string;
  threshold: number;
};

async function run(
  chat: ResponseChat,
  chatOptions: ChatOptions,
  { inference, caller, seal, ask, threshold }: RunOptions,
): Promise<ChatAnswer & ResponseParts> {
  const { promptTokens } = await inference.measurePrompt(caller, toTypedCall(toCall(chat)).request);
  if (promptTokens <= threshold || compactedPrompt(chat.prompt, "") === undefined) return ask(chat, chatOptions);
  const { summary, usage, settlement } = await summarize(inference, caller, chat, chatOptions);
  const prompt = compactedPrompt(chat.prompt, summary);
  if (prompt !== undefined) chat.prompt = prompt;
  const answer: ChatAnswer & ResponseParts = await ask(chat, { ...chatOptions, isWithinRequest: true });
  return {
    ...answer,
    parts: withItem(toCompactionItem(summary, seal), usage, answer.parts ?? toAnswerParts(answer, true, true)),
    settlement: () => combineSettlements([settlement, answer.settlement]),
    get moderation() {
      return answer.moderation;
    },
  };
}

/** Asks the model of the request for a summary. Throws a Fault. */
async function summarize(inference: Inference, caller: Caller, chat: ResponseChat, options: ChatOptions) {
  const { model, instructions, prompt_cache_retention } = chat.body;
  const prompt = toSummaryPrompt(chat.prompt);
  const body = readResponsesBody({ model, instructions, prompt_cache_retention, input: prompt.input });
  const asking = { ...chat, body, prompt, tools: readTools([]) };
  const shorten = (each: ResponseChat) => {
    const shorter = withoutOldest(each.prompt);
    return shorter && { ...each, prompt: shorter };
  };
  const answer = await runWithin({ shorten }, asking, (each) =>
    inference.chat(caller, toTypedCall(toCall(each)), options),
  );
  let summary = "";
  let usage: TokenUsage | undefined;
  for await (const event of answer.events) {
    if (event.type === "text") summary += event.text;
    else if (event.type === "finish") usage = event.usage;
  }
  return { summary, usage, settlement: answer.settlement };
}

/** Yields the item before the parts of the answer, whose usage then includes that of the summary. */
async function* withItem(
  item: ServiceItem,
  used: TokenUsage | undefined,
  parts: AsyncIterable<ResponsePart>,
): AsyncGenerator<ResponsePart> {
  yield { type: "item-start", item };
  yield { type: "item-stop", item };
  for await (const part of parts) {
    yield part.type === "end" && used !== undefined ? { ...part, usage: addTokens(used, part.usage) } : part;
  }
}
