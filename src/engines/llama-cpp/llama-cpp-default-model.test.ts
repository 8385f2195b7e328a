/** What the default model says. Other tests of the engine use its first layers only. */

import { afterAll, beforeAll, expect } from "vitest";
import { openLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatEvent, ChatModel } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

let model: Hosted<ChatModel>;
beforeAll(async () => {
  model = await openLlamaCpp();
});
afterAll(() => model?.close());

const SYSTEM = "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n";

const answer = (asked: Parameters<typeof makeChatRequest>[0]) => {
  const request = makeChatRequest({ say: "What is gravity?", temperature: 0, maxTokens: 16, ...asked });
  return readAnswer(model.chat(request, new AbortController().signal));
};

test("answers with the model's own chat template", async () => {
  const { text, events, finish, reason } = await answer({ maxTokens: 24 });
  const written = `${SYSTEM}<|im_start|>user\nWhat is gravity?<|im_end|>\n<|im_start|>assistant\n`;
  expect(text).toBe((await answer({ messages: [], prompt: { input: written }, maxTokens: 24 })).text);
  // Includes the template's default system message, 28 tokens with its markup.
  expect(events[0]).toEqual({ type: "start", promptTokens: 34, cachedTokens: 0 });
  expect(finish).toEqual({
    type: "finish",
    usage: { promptTokens: 34, completionTokens: 24, cachedTokens: 0, reasoningTokens: 0, estimated: false },
  });
  expect(reason).toBe("length");
});

test("finishes with `stop` at the end token, which counts as generated", async () => {
  const { finish, reason, events } = await answer({
    messages: [
      { role: "system", content: "" },
      { role: "user", content: "What is the capital of France?" },
    ],
    maxTokens: 60,
  });
  expect(reason).toBe("stop");
  const last = events.findLast((event) => event.type === "text");
  expect(finish?.usage.completionTokens).toBe((last?.completionTokens ?? 0) + 1);
});

test("applies logit biases, to the end token too", async () => {
  const [the, end] = [504, 2];
  expect((await answer({ logitBias: { [the]: 100 }, maxTokens: 5 })).text).toBe("The".repeat(5));
  const brief = {
    maxTokens: 40,
    messages: [
      { role: "system" as const, content: "" },
      { role: "user" as const, content: "What is the capital of France?" },
    ],
  };
  expect((await answer(brief)).reason).toBe("stop");
  expect((await answer({ ...brief, logitBias: { [end]: -100, 0: -100 } })).reason).toBe("length");
  const ended = await answer({ logitBias: { [end]: 100 } });
  expect(ended).toMatchObject({ text: "", reason: "stop" });
  await expect(answer({ logitBias: { 49152: 1 } })).rejects.toMatchObject({ param: "logit_bias" });
});

test("reports the model's own probabilities, whatever the sampling parameters", async () => {
  const logprobsOf = (events: readonly ChatEvent[]) =>
    events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
  const plain = await answer({ topLogprobs: 20 });
  const logprobs = logprobsOf(plain.events);
  expect(plain.text).toBe((await answer({})).text);
  expect(logprobs.map(({ token }) => token).join("")).toBe(plain.text);
  for (const { token, logprob, bytes, top } of logprobs) {
    expect(Buffer.from(bytes).toString()).toBe(token);
    expect(top).toHaveLength(20);
    expect(top[0]).toEqual({ token, logprob, bytes });
    const total = top.reduce((sum, each) => sum + Math.exp(each.logprob), 0);
    expect(total).toBeGreaterThan(0.5);
    expect(total).toBeLessThan(1.0001);
  }
  const shaped = logprobsOf((await answer({ topLogprobs: 5, temperature: 2, topK: 1, logitBias: { 504: 10 } })).events);
  expect(shaped[0]?.top[0]?.logprob).toBeCloseTo(logprobs[0]?.logprob ?? Number.NaN, 3);
  const none = logprobsOf((await answer({ topLogprobs: 0, maxTokens: 3 })).events);
  expect(none.map(({ top }) => top)).toEqual([[], [], []]);
});

test("does not end an answer before its minimum of tokens, and still ends it after", async () => {
  const say = "What is the capital of France? Answer with one word.";
  const brief = await answer({ say, maxTokens: 200 });
  const briefTokens = brief.finish?.usage.completionTokens ?? 200;
  expect(briefTokens).toBeLessThan(30);
  const long = await answer({ say, maxTokens: 200, minTokens: 40, repeatPenalty: 1.1 });
  expect(long.finish?.usage.completionTokens).toBeGreaterThan(40);
});
