import { describe, expect, test } from "vitest";
import { makeChatCall } from "../../test/support/chat-request.ts";
import { chatWork } from "./work.ts";

describe("the most that a chat can use", () => {
  const mostOf = (fields: Parameters<typeof makeChatCall>[0]) => chatWork(makeChatCall(fields)).most();

  test("is the bound on each choice, for all choices", () => {
    expect(mostOf({ max_tokens: 100, n: 3 }).completionTokens).toBe(300);
    expect(mostOf({ n: 3 }).completionTokens).toBeUndefined();
  });

  test("counts the tools and the schema as they are written", () => {
    const plain = mostOf({}).promptTokens;
    const long = "x".repeat(1000);
    const tools = [{ type: "function", function: { name: "f", description: long } }];
    expect(mostOf({ tools }).promptTokens).toBeGreaterThan(plain + 1000);
    const schema = { title: long };
    const format = { type: "json_schema", json_schema: { schema } };
    expect(mostOf({ response_format: format }).promptTokens).toBeGreaterThan(plain + 1000);
  });

  test("counts an image as a picture, not by the bytes of its URL", () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(3_000_000)}` } };
    const most = mostOf({ messages: [{ role: "user", content: [image, image] }] });
    expect(most.promptTokens).toBeGreaterThan(2 * 1000);
    expect(most.promptTokens).toBeLessThan(2 * 5000);
  });
});
