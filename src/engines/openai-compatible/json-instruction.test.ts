import { expect, test } from "vitest";
import type { AnswerFormat } from "../chat-model.ts";
import { withInstruction, withViolation } from "./json-instruction.ts";

const user = { role: "user", content: "When?" };
const FORMAT: AnswerFormat = { type: "json-schema", schema: { type: "object" }, param: "response_format.schema" };

function messagesOf(wire: object, format = FORMAT): Record<string, unknown>[] {
  return withInstruction({ model: "m", ...wire }, format).messages as Record<string, unknown>[];
}

test("a system message of parts gets one more", () => {
  const system = { role: "system", content: [{ type: "text", text: "Be brief." }], name: "x" };
  const [first, second] = messagesOf({ messages: [system, user] });
  expect(first).toEqual({ ...system, content: [system.content[0], { type: "text", text: expect.any(String) }] });
  expect(second).toEqual(user);
});

test("without a system message one comes first", () => {
  const messages = messagesOf({ messages: [user] });
  expect(messages).toEqual([{ role: "system", content: expect.stringContaining('{"type":"object"}') }, user]);
});

test("tools may still be called", () => {
  const tools = [{ type: "function", function: { name: "f" } }];
  const [system] = messagesOf({ messages: [user], tools });
  expect(system?.content).toMatch(/^Unless you call a tool: /);
});

test("what would hold or stream the answer is not sent, and everything else is", () => {
  const wire = { messages: [user], response_format: {}, stream: true, stream_options: {}, n: 2, seed: 7 };
  const body = withInstruction({ model: "m", ...wire }, { type: "json" });
  expect(Object.keys(body).sort()).toEqual(["messages", "model", "n", "seed"]);
});

test("one answer is asked for again, with what was said and what was wrong", () => {
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
