import { describe, expect, test } from "vitest";
import { makeChatCall } from "../../../test/support/service/chat-request.ts";
import { NO_USAGE } from "../../kernel/usage.ts";
import { readCompletionBody } from "../../wire/openai/completions/completions-body.ts";
import { toCompletionCall } from "../../wire/openai/completions/completions-call.ts";
import { chatAdapter } from "./chat-adapter.ts";

describe("the maximum usage of a chat", () => {
  const upperBoundOf = (fields: Parameters<typeof makeChatCall>[0]) =>
    chatAdapter(makeChatCall(fields), "one").upperBound();

  test("is the limit of each choice times the number of choices", () => {
    expect(upperBoundOf({ max_tokens: 100, n: 3 }).completionTokens).toBe(300);
    expect(upperBoundOf({ n: 3 }).completionTokens).toBeUndefined();
  });

  test("has a context window for each prompt of a text completion, and an answer for each of `best_of`", () => {
    const body = { model: "m", prompt: ["One.", "Two.", "Three."], best_of: 2, max_tokens: 10 };
    const call = toCompletionCall(readCompletionBody(body), {}, "ignore");
    const adapter = chatAdapter(call, "one");
    expect([adapter.prompts, adapter.choices, adapter.upperBound().completionTokens]).toEqual([3, 6, 60]);
    expect(chatAdapter(makeChatCall({ n: 3 }), "one").prompts).toBe(1);
  });

  test("counts the tools and the schema as they are written", () => {
    const plain = upperBoundOf({}).promptTokens;
    const long = "x".repeat(1000);
    const tools = [{ type: "function", function: { name: "f", description: long } }];
    expect(upperBoundOf({ tools }).promptTokens).toBeGreaterThan(plain + 1000);
    const schema = { title: long };
    const format = { type: "json_schema", json_schema: { schema } };
    expect(upperBoundOf({ response_format: format }).promptTokens).toBeGreaterThan(plain + 1000);
  });

  test("counts an image by its size in tokens, not by the bytes of its URL", () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(3_000_000)}` } };
    const upperBound = upperBoundOf({ messages: [{ role: "user", content: [image, image] }] });
    expect(upperBound.promptTokens).toBeGreaterThan(2 * 1000);
    expect(upperBound.promptTokens).toBeLessThan(2 * 5000);
  });
});

describe("a chat that is aborted before its usage is reported", () => {
  const abandoned = (fields: Parameters<typeof makeChatCall>[0]) => {
    const used = { ...NO_USAGE };
    chatAdapter(makeChatCall(fields), "proj").countAbandoned(used);
    return used;
  };

  test("is charged for its prompt", () => {
    const used = abandoned({ messages: [{ role: "user", content: "x".repeat(400) }] });
    expect(used).toMatchObject({ promptTokens: 100, completionTokens: 0, estimated: true });
  });

  test("is charged for its tools", () => {
    const tools = [{ type: "function", function: { name: "f", description: "x".repeat(400_000) } }];
    expect(abandoned({ tools }).promptTokens).toBeGreaterThan(100_000);
  });

  test("is charged for an image by its size in tokens, not by the bytes of its URL", () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(3_000_000)}` } };
    const { promptTokens } = abandoned({ messages: [{ role: "user", content: [image] }] });
    expect(promptTokens).toBeGreaterThan(500);
    expect(promptTokens).toBeLessThan(5_000);
  });
});
