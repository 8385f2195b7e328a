/** No prompt that fits is refused: the bounds never exceed the real token count. */

import fc from "fast-check";
import type { LlamaModel } from "node-llama-cpp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import * as templates from "../../test/chat-templates.ts";
import { loadChatModel } from "../../test/load-chat-model.ts";
import type { PromptMessage } from "../types.ts";
import { Vocabulary } from "../vocabulary.ts";
import { ChatTemplate } from "./chat-template.ts";
import { PromptBounds } from "./prompt-bounds.ts";
import { PromptBuilder } from "./prompt-builder.ts";

let model: LlamaModel;
let vocabulary: Vocabulary;
beforeAll(async () => {
  model = await loadChatModel({ vocabOnly: true });
  vocabulary = new Vocabulary(model);
});
afterAll(() => model?.dispose());

const TEMPLATES: Record<string, string | undefined> = {
  ...templates,
  CHATML: undefined,
  TRIMMING: "{% for message in messages %}{{ message.content | trim }}\n{% endfor %}",
  KEEPS_LAST: "{{ messages[-1].content }}",
  DROPS_REASONING:
    "{% for message in messages %}<|im_start|>{{ message.content.split('</think>')[-1] }}<|im_end|>{% endfor %}",
};
const text = fc.oneof(
  fc.constantFrom("", " ", "a", "\n\n\n\n", "<think>long</think>x", "<|im_end|>", " ".repeat(500), "the ".repeat(300)),
  fc.string({ maxLength: 60 }),
);
const conversation = fc
  .array(text, { minLength: 1, maxLength: 30 })
  .map((contents) =>
    contents.map((content, index): PromptMessage => ({ role: index % 2 === 0 ? "user" : "assistant", content })),
  );

describe.each(Object.entries(TEMPLATES))("with the template %s", (_name, source) => {
  test("never exceeds the token count of a conversation", async () => {
    const prompts = new PromptBuilder(model, new ChatTemplate(source, { bos_token: "", eos_token: "" }), vocabulary);
    const { signal } = new AbortController();
    await fc.assert(
      fc.asyncProperty(conversation, async (messages) => {
        const rendered = await prompts.render({ messages, tools: [], extra: {} });
        const { tokens, isComplete } = await prompts.tokenize(rendered, Number.POSITIVE_INFINITY, signal);
        expect(isComplete).toBe(true);
        expect(prompts.bounds.minTokens(messages)).toBeLessThanOrEqual(tokens.length);
      }),
      { numRuns: 60 },
    );
  });
});

test("counts at least the control tokens of each message", () => {
  const bounds = new PromptBounds(new ChatTemplate(undefined, { bos_token: "", eos_token: "" }), vocabulary);
  const messages = Array.from({ length: 120_000 }, () => ({ role: "user" as const, content: "a" }));
  expect(bounds.minTokens(messages)).toBe(480_000);
});

test("counts the bytes of a long message by the longest token", () => {
  const bounds = new PromptBounds(new ChatTemplate(undefined, { bos_token: "", eos_token: "" }), vocabulary);
  const minTokens = bounds.minTokens([{ role: "user", content: "lorem ipsum ".repeat(330_000) }]);
  expect(minTokens).toBeGreaterThan(20_000);
});
