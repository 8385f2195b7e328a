import { expect, test } from "vitest";
import type { PromptMessage, Tool } from "../types.ts";
import { ChatTemplate } from "./chat-template.ts";
import { GenericTools } from "./generic-tools.ts";

const WITHOUT_SYSTEM =
  "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}{{ messages[0].content }}";
const toolsOf = (source?: string) => new GenericTools(new ChatTemplate(source, { bos_token: "", eos_token: "" }));
const tool: Tool = { name: "get", description: "Gets.", parameters: { type: "object" }, param: "tools[0]" };
const definition = '{"type":"function","function":{"name":"get","description":"Gets.","parameters":{"type":"object"}}}';
const user: PromptMessage = { role: "user", content: "Hi" };

test("adds the definitions as a system message", () => {
  const [system, ...rest] = toolsOf().toPlainMessages([user], [tool]);
  expect(system).toMatchObject({ role: "system", content: expect.stringContaining(definition) });
  expect(rest).toEqual([user]);
});

test("appends the definitions to the system message of the request", () => {
  const messages: PromptMessage[] = [{ role: "developer", content: "Be brief." }, user];
  const [system, ...rest] = toolsOf().toPlainMessages(messages, [tool]);
  expect(system).toMatchObject({ role: "developer", content: expect.stringMatching(/^Be brief\.\n\n.*get/s) });
  expect(rest).toEqual([user]);
});

test("prepends the definitions to the first user message when the template has no system role", () => {
  const messages = toolsOf(WITHOUT_SYSTEM).toPlainMessages([user], [tool]);
  expect(messages).toEqual([{ role: "user", content: expect.stringMatching(/get.*\n\nHi$/s) }]);
});

test("writes calls and their results as text, consecutive results in one message", () => {
  const messages: PromptMessage[] = [
    user,
    {
      role: "assistant",
      content: "",
      toolCalls: [1, 2].map((id) => ({ id: `${id}`, name: "get", arguments: `{"a":${id}}` })),
    },
    { role: "tool", content: "one", toolCallId: "1" },
    { role: "tool", content: "two", toolCallId: "2" },
  ];
  expect(toolsOf().toPlainMessages(messages, [])).toEqual([
    user,
    {
      role: "assistant",
      content:
        '<tool_call>\n{"name": "get", "arguments": {"a":1}}\n</tool_call>\n<tool_call>\n{"name": "get", "arguments": {"a":2}}\n</tool_call>',
    },
    { role: "user", content: "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>" },
  ]);
});

test("leaves a conversation without tools unchanged", () => {
  const messages = [user];
  expect(toolsOf().toPlainMessages(messages, [])).toBe(messages);
});
