/** One oversized request does not delay the others in the model's process. */

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect } from "vitest";
import { openShallowLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { expectBelow } from "../../../test/support/timing.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatModel, ChatRequest } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

let model: Hosted<ChatModel>;
beforeAll(async () => {
  model = await openShallowLlamaCpp({ context_size: 8192, slots: 1 });
});
afterAll(() => model?.close());

const conversation = (count: number): ChatRequest["messages"] =>
  Array.from({ length: count }, (_, index) => ({ role: index % 2 === 0 ? "user" : "assistant", content: "a" }));

const never = () => new AbortController().signal;

/** The child refuses it at once, so it measures the transfer and the child's event loop. */
async function roundTripMs(): Promise<number> {
  const startedAt = performance.now();
  await expect(readAnswer(model.chat(makeChatRequest({ choices: 100 }), never()))).rejects.toMatchObject({
    param: "n",
  });
  return performance.now() - startedAt;
}

/** Longest round trip of other requests while this one is in the child. */
async function longestDelayMs(request: ChatRequest): Promise<{ longest: number; failure: unknown }> {
  await roundTripMs();
  const failure = readAnswer(model.chat(request, never())).catch((error: unknown) => error);
  let longest = 0;
  for (let trip = 0; trip < 20; trip++) {
    longest = Math.max(longest, await roundTripMs());
    await delay(10);
  }
  return { longest, failure: await failure };
}

test("reports the maximum number of messages, for rejection before they reach its process", () => {
  expect(model.maxMessages).toBeGreaterThan(8192 / 20);
  expect(model.maxMessages).toBeLessThanOrEqual(8192);
});

test.each([
  ["5,000 messages", conversation(5000)],
  ["50,000 special tokens", [{ role: "user" as const, content: "<|im_end|>".repeat(50_000) }]],
  ["4 MB of words", [{ role: "user" as const, content: "lorem ipsum ".repeat(330_000) }]],
])("rejects %s without delaying another request by 250 ms", async (_name, messages) => {
  // The same transfer between the processes, without a prompt to render and tokenize.
  const { longest: transfer } = await longestDelayMs(makeChatRequest({ messages, choices: 100 }));
  const { longest, failure } = await longestDelayMs(makeChatRequest({ messages }));
  expect(failure).toMatchObject({ code: "context_length_exceeded", param: "messages" });
  expectBelow(longest - transfer, 250);
});
