import { expect, test } from "vitest";
import { parseUpstreamError } from "./upstream-error.ts";

const VLLM =
  "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (8969 in the messages, 32 in the completion).";

test.each<[server: string, body: unknown]>([
  ["vLLM", { error: { message: VLLM, type: "BadRequestError", param: null, code: 400 } }],
  ["an older vLLM", { object: "error", message: VLLM, type: "BadRequestError", param: null, code: 400 }],
  ["llama-server", { error: { message: "too long", type: "exceed_context_size_error", code: 400 } }],
  ["OpenAI", { error: { message: VLLM, param: "messages", code: "context_length_exceeded" } }],
  [
    "Gemini",
    { error: { message: "The input token count (9001) exceeds the maximum number of tokens allowed (8192)." } },
  ],
  ["Cohere", { error: { message: "too many tokens: the prompt cannot exceed 4081 - received 4292." } }],
])("recognizes a prompt that is too long from the error of %s", (_server, body) => {
  expect(parseUpstreamError(body)?.details).toMatchObject({ param: "messages", code: "context_length_exceeded" });
});

test.each<[server: string, body: unknown]>([
  ["Bedrock", { error: { message: "Too many tokens, please wait before trying again." } }],
  ["Bedrock, of a day", { error: { message: "Too many tokens per day, please wait before trying again." } }],
  ["a gateway", { error: { message: "Too many tokens in the last minute.", code: 429 } }],
])("does not take a limit of %s for a prompt that is too long", (_server, body) => {
  expect(parseUpstreamError(body)?.details.code).not.toBe("context_length_exceeded");
});

test("reads a message that begins like Gemini's sentence again and again in linear time", () => {
  const message = "input token count ".repeat(60_000);
  const { user } = process.threadCpuUsage();
  expect(parseUpstreamError({ error: { message } })?.details.code).toBeUndefined();
  expect((process.threadCpuUsage().user - user) / 1000).toBeLessThan(1000);
});
