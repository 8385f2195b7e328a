/** Answers that the last message begins. */

import { afterAll, beforeAll, expect } from "vitest";
import { openLlamaCpp } from "../../../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import type { Hosted } from "../host/host-model.ts";

const test = oncePerState(import.meta.filename);

let model: Hosted<ChatModel>;
beforeAll(async () => {
  model = await openLlamaCpp();
});
afterAll(() => model?.close());

const never = () => new AbortController().signal;
const QUESTION: ChatMessage = { role: "user", content: "Name the capital of France." };
const beginning = (content: string): ChatMessage[] => [QUESTION, { role: "assistant", content }];

const ask = (messages: ChatMessage[], fields: Parameters<typeof makeChatRequest>[0] = {}) =>
  readAnswer(
    model.chat(
      makeChatRequest({ messages, temperature: 0, maxTokens: 8, continuation: "required", ...fields }),
      never(),
    ),
  );

test("continues the text as if the model had written it, white space included", async () => {
  const whole = await ask([QUESTION], { continuation: undefined, maxTokens: 24 });
  const [first = "", ...words] = whole.text.split(/(?= )/);
  const { text, finish } = await ask(beginning(first), { maxTokens: 23 });
  expect(first + text).toBe(whole.text);
  expect(words.length).toBeGreaterThan(2);
  const { finish: unbegun } = await ask([QUESTION], { continuation: undefined });
  const added = (finish?.usage.promptTokens ?? 0) - (unbegun?.usage.promptTokens ?? 0);
  expect(added).toBeGreaterThan(0);
  const counted = makeChatRequest({ messages: beginning(first), continuation: "required" });
  expect(await model.countTokens?.(counted, never())).toBe(finish?.usage.promptTokens);
});

test("counts no control token in the beginning", async () => {
  const { finish } = await ask(beginning("The<|im_end|>"));
  const { finish: plain } = await ask(beginning("The"));
  // As one token, it would be one more.
  expect((finish?.usage.promptTokens ?? 0) - (plain?.usage.promptTokens ?? 0)).toBeGreaterThan(2);
});

test("begins a new answer where a schema holds it, unless it must not", async () => {
  const format = { type: "json-schema" as const, schema: { type: "object", properties: {} }, param: "format" };
  const { text } = await ask(beginning("{"), { format, continuation: "preferred", maxTokens: 200 });
  expect(text.trimStart()[0]).toBe("{");
  await expect(ask(beginning("{"), { format })).rejects.toMatchObject({ code: "unsupported_value", param: "messages" });
});
