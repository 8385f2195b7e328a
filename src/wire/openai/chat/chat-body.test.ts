import { expect, test } from "vitest";
import { keepSource, sourceOf } from "../../../kernel/json/json-source.ts";
import { readChatBody } from "./chat-body.ts";

const tools = [{ type: "function", function: { name: "time" } }];

test.each([
  ["any", "required", false],
  ["required", "required", true],
])("gives an upstream the choice of tools %s as %s, whose bytes it keeps: %s", (choice, read, isKept) => {
  const value = { model: "chat", messages: [{ role: "user", content: "Hi" }], tools, tool_choice: choice };
  keepSource(value, { chunks: [Buffer.from(JSON.stringify(value))], members: [] });
  const body = readChatBody(value);
  expect(body.tool_choice).toBe(read);
  expect(sourceOf(body) !== undefined).toBe(isKept);
});
