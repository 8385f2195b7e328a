/** Several choices and sampling parameters. */

import { afterAll, beforeAll, expect } from "vitest";
import { openShallowLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatEvent, ChatModel } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

let model: Hosted<ChatModel>;
beforeAll(async () => {
  model = await openShallowLlamaCpp({ max_choices: 6 });
});
afterAll(() => model?.close());

const never = () => new AbortController().signal;
const ask = (asked: Parameters<typeof makeChatRequest>[0]) =>
  readAnswer(
    model.chat(makeChatRequest({ say: "What is gravity?", temperature: 0, maxTokens: 16, ...asked }), never()),
  );
const textsOf = (events: readonly ChatEvent[], choices: number) =>
  Array.from({ length: choices }, (_, choice) =>
    events.map((event) => (event.type === "text" && event.choice === choice ? event.text : "")).join(""),
  );

test("reports its abilities", () => {
  expect(model.abilities).toEqual({
    tools: true,
    jsonSchema: true,
    logprobs: true,
    vision: false,
    reasoning: false,
    continuation: true,
    choices: 6,
    completions: true,
    infill: false,
  });
});

// With four slots, six choices run partly one after another.
test.each([3, 6])("samples %i different choices from one prompt, reproducibly with a seed", async (choices) => {
  const sample = () => ask({ temperature: 1, seed: 5, choices });
  const [first, again] = [await sample(), await sample()];
  const texts = textsOf(first.events, choices);
  expect(new Set(texts).size).toBe(choices);
  expect(textsOf(again.events, choices)).toEqual(texts);
  expect(first.finish?.usage).toMatchObject({ promptTokens: 34, completionTokens: 16 * choices, cachedTokens: 0 });
  expect(first.events.filter((event) => event.type === "start")).toHaveLength(1);
  const ends = first.events.flatMap((event) => (event.type === "choice-end" ? [event.choice] : []));
  expect(ends.toSorted()).toEqual(Array.from({ length: choices }, (_, choice) => choice));
  expect(first.events.at(-1)?.type).toBe("finish");
  const counts = first.events.flatMap((event) => ("completionTokens" in event ? [event.completionTokens] : []));
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
});

test("gives its first choice the text of a request for one", async () => {
  const alone = await ask({ temperature: 1, seed: 5 });
  const [first] = textsOf((await ask({ temperature: 1, seed: 5, choices: 2 })).events, 2);
  expect(first?.slice(0, 8)).toBe(alone.text.slice(0, 8));
});

test("serves concurrent requests for more choices than slots", async () => {
  const answers = await Promise.all([1, 2, 3].map((seed) => ask({ temperature: 1, seed, choices: 6, maxTokens: 4 })));
  for (const { finish } of answers) expect(finish?.usage.completionTokens).toBe(24);
});

test("ends all choices of an aborted request, queued ones included", async () => {
  const abort = new AbortController();
  const request = makeChatRequest({ say: "Write a long story.", temperature: 1, maxTokens: 900, choices: 6 });
  const events = model.chat(request, abort.signal)[Symbol.asyncIterator]();
  await events.next();
  abort.abort();
  for (let next = await events.next(); !next.done; next = await events.next()) expect(next.value.type).toBe("text");
  expect((await ask({ choices: 4, maxTokens: 2 })).finish?.usage.completionTokens).toBe(8);
});

test("rejects more choices than max_choices", async () => {
  await expect(ask({ choices: 7 })).rejects.toMatchObject({ param: "n", code: "unsupported_value" });
});

test.each([
  [{ frequencyPenalty: 2 }, { frequencyPenalty: -2 }],
  [{ presencePenalty: 2 }, { presencePenalty: -2 }],
  [{ repeatPenalty: 1.8 }, { repeatPenalty: 0.8 }],
])("repeats less with %j than with %j", async (less, more) => {
  const repeats = async (penalty: object) => {
    const { text } = await ask({ say: "Write a poem about a dog.", maxTokens: 60, ...penalty });
    const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
    return words.length / new Set(words).size;
  };
  expect(await repeats(less)).toBeLessThan(await repeats(more));
});

test("samples only the most likely token with top_k 1 or min_p 1", async () => {
  const greedy = (await ask({})).text;
  expect((await ask({ temperature: 2, topK: 1 })).text).toBe(greedy);
  expect((await ask({ temperature: 2, minP: 1 })).text).toBe(greedy);
  expect((await ask({ temperature: 2 })).text).not.toBe(greedy);
});

test("reports the bytes of tokens that are part of a character", async () => {
  const { events, text } = await ask({ say: "Answer with emoji only: 🐉🐲", topLogprobs: 0, temperature: 1, seed: 3 });
  const logprobs = events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
  const bytes = Buffer.from(logprobs.flatMap((token) => token.bytes));
  const textBytes = Buffer.byteLength(text);
  expect(bytes.subarray(0, textBytes).toString()).toBe(text);
  // The character that `maxTokens` truncated has no text.
  expect(bytes.length - textBytes).toBeLessThan(4);
});

test("omits the tokens of a stop sequence", async () => {
  const { text } = await ask({});
  const stopped = await ask({ topLogprobs: 0, stop: [text.slice(10, 16)] });
  const logprobs = stopped.events.flatMap((event) => (event.type === "text" ? (event.logprobs ?? []) : []));
  expect(stopped.text.startsWith(logprobs.map(({ token }) => token).join(""))).toBe(true);
});
