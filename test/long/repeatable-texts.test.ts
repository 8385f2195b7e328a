/** Plain prompts with a seed have the same text alone and together, with and without prefix reuse. */

import { expect, test } from "vitest";
import type { ChatModel, ChatRequest } from "../../src/contracts/chat-model.ts";
import type { Hosted } from "../../src/engines/host/host-model.ts";
import { openLlamaCpp } from "../support/models/llama-cpp.ts";
import { PLAIN_PROMPTS } from "../support/models/plain-prompts.ts";
import { makeChatRequest } from "../support/service/chat-request.ts";
import { readAnswer } from "../support/service/read-answer.ts";

/** Some 350 tokens: keys are split among threads from 257 on. */
const SYSTEM = "Answer in one sentence. ".concat("Dragons eat granite on Mondays and chalk on Fridays. ".repeat(28));

const messagesOf = (content: string): ChatRequest["messages"] => [
  { role: "system", content: SYSTEM },
  { role: "user", content },
];

async function ask(model: Hosted<ChatModel>, messages: ChatRequest["messages"]) {
  const request = makeChatRequest({ messages, temperature: 0, seed: 1, maxTokens: 24, topLogprobs: 2 });
  const { text, finish, events } = await readAnswer(model.chat(request, new AbortController().signal));
  const logprobs = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
  return { output: { text, logprobs }, cachedTokens: finish?.usage.cachedTokens ?? 0 };
}

test("the logits of 30 prompts are the same alone and together, with and without prefix reuse", async () => {
  const conversations = PLAIN_PROMPTS.map(([content]) => messagesOf(content));
  const settings = { context_size: 1024, slots: 4 };
  await using apart = await closing(openLlamaCpp({ ...settings, prefix_reuse: false }));
  const together = await Promise.all(conversations.map((messages) => ask(apart.model, messages)));
  await using reusing = await closing(openLlamaCpp(settings));
  const alone = [];
  for (const messages of conversations) alone.push(await ask(reusing.model, messages));
  const beside = await Promise.all(conversations.map((messages) => ask(reusing.model, messages)));
  expect(together.every(({ cachedTokens }) => cachedTokens === 0)).toBe(true);
  expect(alone.filter(({ cachedTokens }) => cachedTokens > 256)).toHaveLength(conversations.length - 1);
  // The first request of each other slot has nothing to reuse.
  expect(beside.filter(({ cachedTokens }) => cachedTokens > 256).length).toBeGreaterThanOrEqual(
    conversations.length - 3,
  );
  for (const index of conversations.keys()) {
    expect(alone[index]?.output).toEqual(together[index]?.output);
    expect(beside[index]?.output).toEqual(together[index]?.output);
  }
}, 1_200_000);

async function closing(opening: Promise<Hosted<ChatModel>>) {
  const model = await opening;
  return { model, [Symbol.asyncDispose]: () => model.close() };
}
