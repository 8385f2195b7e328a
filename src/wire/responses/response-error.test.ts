import type OpenAI from "openai";
import { expect, expectTypeOf, test } from "vitest";
import { RESPONSE_ERROR_CODES, type ResponseErrorCode, toResponseError } from "./response-error.ts";

/** Does not compile while OpenAI's SDK has another code. */
expectTypeOf<ResponseErrorCode>().toEqualTypeOf<OpenAI.Responses.ResponseError["code"]>();

test.each([
  ["image_too_large", "invalid_request_error", "image_too_large"],
  ["context_length_exceeded", "invalid_request_error", "invalid_prompt"],
  ["budget_exceeded", "insufficient_quota", "rate_limit_exceeded"],
  ["rate_limit_exceeded", "tokens", "rate_limit_exceeded"],
  ["upstream_error", "server_error", "server_error"],
  [null, "service_unavailable_error", "server_error"],
])("shows %s of the type %s as %s", (code, type, expected) => {
  const error = toResponseError({ error: { message: "Why.", type, param: "input", code } });
  expect(error).toEqual({ code: expected, message: "Why.", type, param: "input" });
  expect(RESPONSE_ERROR_CODES).toContain(error.code);
});
