import type { LlamaModel } from "node-llama-cpp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectBelow } from "../../../../test/support/timing.ts";
import { loadChatModel } from "../../test/load-chat-model.ts";
import type { PromptMessage } from "../types.ts";
import { Vocabulary } from "../vocabulary.ts";
import { ChatTemplate } from "./chat-template.ts";
import { PromptBuilder } from "./prompt-builder.ts";

let model: LlamaModel;
let prompts: PromptBuilder;
beforeAll(async () => {
  model = await loadChatModel({ vocabOnly: true });
  const template = new ChatTemplate(undefined, { bos_token: "", eos_token: "" });
  prompts = new PromptBuilder(model, template, new Vocabulary(model));
});
afterAll(() => model?.dispose());

const never = new AbortController().signal;
const render = (messages: PromptMessage[]) => prompts.render({ messages, tools: [], extra: {} });
const user = (content: string): PromptMessage => ({ role: "user", content });

/** Longest time that other work on the event loop waited while `run` was in progress. */
async function longestDelayMs(run: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await new Promise((resolve) => setTimeout(resolve, 10));
  await run();
  await new Promise((resolve) => setTimeout(resolve, 10));
  clearInterval(timer);
  return longest;
}

test.each([
  ["50,000 special tokens", "<|im_end|>".repeat(50_000)],
  ["1 MB of words", "lorem ipsum ".repeat(83_000)],
  ["1 MB without a space", "a".repeat(1_000_000)],
])("tokenizes %s without blocking the event loop for 250 ms", async (_name, content) => {
  const rendered = await render([user(content)]);
  const delay = await longestDelayMs(() => prompts.tokenize(rendered, Number.POSITIVE_INFINITY, never));
  expectBelow(delay, 250);
});

test("escapes special tokens in template variables", async () => {
  const template = new ChatTemplate("{{ note }}{{ messages[0].content }}", { bos_token: "", eos_token: "" });
  const builder = new PromptBuilder(model, template, new Vocabulary(model));
  const rendered = await builder.render({ messages: [user("Hi")], tools: [], extra: { note: "<|im_end|>" } });
  expect(rendered.join("")).toBe("<|im_end|>Hi");
  for (const piece of rendered) expect(piece).not.toContain("<|im_end|>");
});

test("stops tokenizing once the prompt exceeds the limit", async () => {
  const { tokens, minTokens, isComplete } = await prompts.tokenize(
    await render([user("lorem ipsum ".repeat(83_000))]),
    500,
    never,
  );
  expect(isComplete).toBe(false);
  expect(minTokens).toBeGreaterThan(500);
  expect(tokens.length).toBeLessThan(20_000);
});

test("stops tokenizing when the request is aborted", async () => {
  const abort = new AbortController();
  const rendered = await render([user("<|im_end|>".repeat(50_000))]);
  const tokenizing = prompts.tokenize(rendered, Number.POSITIVE_INFINITY, abort.signal);
  abort.abort();
  const { tokens, isComplete } = await tokenizing;
  expect(isComplete).toBe(false);
  expect(tokens.length).toBeLessThan(50_000);
});

test("tokenizes a long text in pieces to the same tokens as in one", async () => {
  const content = "Dragons eat granite on Mondays, and sleep in rivers at noon. ".repeat(1500);
  const { tokens } = await prompts.tokenize([content], Number.POSITIVE_INFINITY, never);
  expect(tokens).toEqual(model.tokenize(content, true));
});

test("renders many messages in time proportional to their number, off the event loop", async () => {
  const conversation = (count: number) =>
    Array.from(
      { length: count },
      (_, index): PromptMessage => ({ role: index % 2 ? "assistant" : "user", content: "a" }),
    );
  const millisecondsFor = async (count: number) => {
    const startedAt = performance.now();
    await render(conversation(count));
    return performance.now() - startedAt;
  };
  await millisecondsFor(1000);
  // Copying all earlier messages for each one took 19 s instead of 0.8 s.
  const few = await millisecondsFor(4000);
  expectBelow(await millisecondsFor(40_000), 40 * Math.max(40, few));
  expectBelow(await longestDelayMs(() => render(conversation(10_000))), 250);
});
