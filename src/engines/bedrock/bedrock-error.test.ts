import { expect, test } from "vitest";
import { readBedrockError, toBedrockError } from "./bedrock-error.ts";

test.each(["Too many tokens, please wait before trying again.", "Too many tokens in the last minute."])(
  "reads a limit on tokens as one: %s",
  (message) => {
    const headers = { "x-amzn-errortype": "ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/" };
    expect(readBedrockError({ body: { message }, status: 429, headers }).status).toBe(429);
    expect(toBedrockError("throttlingException", { message }).details).toMatchObject({
      status: 429,
      code: "throttling",
    });
  },
);

test("reads a prompt that is too long", () => {
  const error = toBedrockError("ValidationException", { message: "Too many input tokens. Max input tokens: 8192" });
  expect(error.details).toMatchObject({ status: 400, code: "context_length_exceeded" });
});
