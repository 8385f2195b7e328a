import { expect, test } from "vitest";
import { withoutValues } from "./without-values.ts";

test("a log line has no value of a request that a message quotes", () => {
  const message = `invalid-request: Invalid value for 'tool_choice': "ada@example.com" with sk-${"a1b2".repeat(10)} and 4111 1111 1111 1111.`;
  expect(withoutValues(message)).toBe(
    `invalid-request: Invalid value for 'tool_choice': "<EMAIL_ADDRESS>" with <OPENAI_KEY> and <CREDIT_CARD>.`,
  );
});

test("addresses of machines stay, and a long message is cut", () => {
  expect(withoutValues("connect ECONNREFUSED 10.1.2.3:8000")).toBe("connect ECONNREFUSED 10.1.2.3:8000");
  expect(withoutValues("x ".repeat(1000))).toHaveLength(300);
});
