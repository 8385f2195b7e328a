import { expect, test } from "vitest";
import type { AnswerFormat } from "../../../contracts/chat-model.ts";
import { withInstruction, withViolation } from "./json-instruction.ts";

const user = { role: "user", content: "When?" };
const FORMAT: AnswerFormat = { type: "json-schema", schema: { type: "object" }, param: "response_format.schema" };

function messagesOf(wire: object, format = FORMAT): Record<string, unknown>[] {
  return withInstruction({ model: "m", ...wire }, format).messages as Record<string, unknown>[];
}

test("adds a part to a system message of parts", () => {
  const system = { role: "system", content: [{ type: "text", text: "Be brief." }], name: "x" };
  const [first, second] = messagesOf({ messages: [system, user] });
  expect(first).toEqual({ ...system, content: [system.content[0], { type: "text", text: expect.any(String) }] });
  expect(second).toEqual(user);
});

test("inserts a missing system message first", () => {
  const messages = messagesOf({ messages: [user] });
  expect(messages).toEqual([{ role: "system", content: expect.stringContaining('{"type":"object"}') }, user]);
});

test("allows tool calls", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const [system] = messagesOf({ messages: [user], tools });
  expect(system?.content).toMatch(/^Unless you call a tool: /);
});

test("removes response_format and stream, and keeps all other fields", () => {
  const wire = { messages: [user], response_format: {}, stream: true, stream_options: {}, n: 2, seed: 7 };
  const body = withInstruction({ model: "m", ...wire }, { type: "json" });
  expect(Object.keys(body).sort()).toEqual(["messages", "model", "n", "seed"]);
});

test("requests one answer again, with the previous one and its error", () => {
  const body = withViolation({ messages: [user], n: 2, seed: 7 }, "no", "it is not JSON");
  expect(body).toEqual({
    seed: 7,
    messages: [
      user,
      { role: "assistant", content: "no" },
      { role: "user", content: expect.stringContaining("not JSON") },
    ],
  });
});
