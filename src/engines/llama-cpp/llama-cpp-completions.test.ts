/** Prompts that bypass the chat template. */

import { afterAll, beforeAll, expect } from "vitest";
import { openLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatEvent, ChatModel, EchoedLogprob, RawPrompt, TokenLogprob } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

let model: Hosted<ChatModel>;
beforeAll(async () => {
  model = await openLlamaCpp();
});
afterAll(() => model?.close());

const never = () => new AbortController().signal;

async function complete(prompt: RawPrompt, fields: Parameters<typeof makeChatRequest>[0] = {}) {
  const asked = makeChatRequest({ messages: [], temperature: 0, maxTokens: 12, ...fields });
  return readAnswer(model.chat({ ...asked, prompt }, never()));
}

const logprobsOf = (events: readonly ChatEvent[], type: "echo" | "text") =>
  events.flatMap((event) => (event.type === type && "logprobs" in event ? (event.logprobs ?? []) : []));

const FRANCE = "The capital of France is";

/** Tokens with which the answer may well begin: roundings of another processor do not make one of them unlikely. */
function likelyFirst(events: readonly ChatEvent[]): string[] {
  const [first] = logprobsOf(events, "text") as TokenLogprob[];
  return (first?.top ?? []).flatMap(({ token, logprob }) => (Math.exp(logprob) > 0.02 ? [token] : []));
}

test("continues a text as the model was trained to, without a template", async () => {
  const { events, finish } = await complete({ input: FRANCE }, { topLogprobs: 20, maxTokens: 1 });
  expect(likelyFirst(events)).toContain(" Paris");
  expect(finish?.usage.promptTokens).toBe(5);
});

test("reads control tokens in the text", async () => {
  const written = "<|im_start|>user\nSay hello.<|im_end|>\n<|im_start|>assistant\n";
  const { finish } = await complete({ input: written });
  const { finish: plain } = await complete({ input: written.replaceAll("|", "") });
  expect(finish?.usage.promptTokens).toBeLessThan(plain?.usage.promptTokens ?? 0);
});

test("continues token IDs like the text that they stand for", async () => {
  const echoed = await complete({ input: [504, 3575, 282, 4649, 314], echo: true }, { maxTokens: 4 });
  const [echo] = echoed.events.filter((event) => event.type === "echo");
  expect(echo).toMatchObject({ text: FRANCE });
  expect(echoed.text).toBe((await complete({ input: FRANCE }, { maxTokens: 4 })).text);
});

test("refuses token IDs outside the vocabulary, and a suffix", async () => {
  await expect(complete({ input: [1, 10_000_000] })).rejects.toMatchObject({ param: "prompt", code: "invalid_value" });
  await expect(complete({ input: "a", suffix: "b" })).rejects.toMatchObject({ param: "suffix" });
  await expect(complete({ input: "" })).rejects.toMatchObject({ param: "prompt", code: "invalid_value" });
});

test("echoes the prompt with the log probabilities that its tokens have as an answer", async () => {
  const start = "Once upon a time, in a small village,";
  const answer = await complete({ input: start }, { topLogprobs: 3, maxTokens: 40 });
  const scored = await complete(
    { input: start + answer.text, echo: true },
    { topLogprobs: 3, maxTokens: 0, choices: 2 },
  );
  expect(scored.text).toBe("");
  expect(scored.finish?.usage).toMatchObject({ completionTokens: 0, cachedTokens: 0 });
  const echoes = scored.events.filter((event) => event.type === "echo");
  expect(echoes.map(({ choice, text }) => [choice, text])).toEqual([
    [0, start + answer.text],
    [1, start + answer.text],
  ]);
  const written = logprobsOf(answer.events, "text") as EchoedLogprob[];
  const read = (echoes[0]?.logprobs ?? []).slice(-written.length);
  expect(echoes[0]?.logprobs?.[0]?.logprob).toBeUndefined();
  expect(read.map(({ token }) => token)).toEqual(written.map(({ token }) => token));
  // Batches of another size round differently, by up to 0.1 with quantized weights.
  const differences = read.map(({ logprob = 0 }, index) => Math.abs(logprob - (written[index]?.logprob ?? 99)));
  expect(Math.max(...differences)).toBeLessThan(0.3);
  expect(differences.reduce((sum, each) => sum + each) / differences.length).toBeLessThan(0.05);
});

test("counts the tokens of a prompt as it evaluates them, also beyond the context window", async () => {
  const tool = { name: "weather", description: "The weather", parameters: { type: "object" }, param: "tools[0]" };
  const request = makeChatRequest({ say: "How is the weather? <|im_end|>", tools: [tool], maxTokens: 1 });
  const { finish } = await readAnswer(model.chat(request, never()));
  expect(await model.countTokens?.(request, never())).toBe(finish?.usage.promptTokens);
  expect(await model.countTokens?.(makeChatRequest({ say: "word ".repeat(3000) }), never())).toBeGreaterThan(3000);
});

test("echoes before the answer of each choice", async () => {
  const { events } = await complete({ input: "One, two,", echo: true }, { choices: 2, maxTokens: 3 });
  for (const choice of [0, 1]) {
    const own = events.filter((event) => "choice" in event && event.choice === choice);
    expect(own[0]).toMatchObject({ type: "echo", text: "One, two," });
    expect(own.at(-1)).toMatchObject({ type: "choice-end", reason: "length" });
  }
});
