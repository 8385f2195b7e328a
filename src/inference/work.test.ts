import { describe, expect, test } from "vitest";
import { makeChatRequest } from "../../test/support/chat-request.ts";
import { unsupportedValue } from "../faults.ts";
import { chatWork } from "./work.ts";

describe("the most that a chat can use", () => {
  const mostOf = (asked: Parameters<typeof makeChatRequest>[0]) => chatWork(makeChatRequest(asked)).most();

  test("is the bound on each choice, for all choices", () => {
    expect(mostOf({ maxTokens: 100, choices: 3 }).completionTokens).toBe(300);
    expect(mostOf({ choices: 3 }).completionTokens).toBeUndefined();
  });

  test("counts the tools and the schema as they are written", () => {
    const plain = mostOf({}).promptTokens;
    const long = "x".repeat(1000);
    expect(mostOf({ wire: { tools: [{ description: long }] } }).promptTokens).toBeGreaterThan(plain + 1000);
    expect(mostOf({ wire: { response_format: { schema: long } } }).promptTokens).toBeGreaterThan(plain + 1000);
  });

  test("counts an image as a picture, not by the bytes of its URL", () => {
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(3_000_000)}` } };
    const imagesNotTaken = () => unsupportedValue("An image.", "messages[0]");
    const most = mostOf({ imagesNotTaken, wire: { messages: [{ role: "user", content: [image, image] }] } });
    expect(most.promptTokens).toBeGreaterThan(2 * 1000);
    expect(most.promptTokens).toBeLessThan(2 * 5000);
  });
});
