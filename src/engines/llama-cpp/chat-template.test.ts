import { expect, test } from "vitest";
import type { ChatMessage } from "../chat-model.ts";
import { ChatTemplate } from "./chat-template.ts";

const variables = { bos_token: "<s>", eos_token: "</s>" };
const user: ChatMessage = { role: "user", content: "Hi {{ bos_token }}" };

test("renders with the begin and end texts, and leaves what a message says as it is", () => {
  const source =
    "{{ bos_token }}{% for message in messages %}[{{ message.role }}] {{ message.content }}{{ eos_token }}{% endfor %}";
  expect(new ChatTemplate(source, variables).render({ messages: [user] })).toBe("<s>[user] Hi {{ bos_token }}</s>");
});

test("tells templates of a developer message as a system message", () => {
  const source = "{% for message in messages %}{{ message.role }} {% endfor %}";
  expect(new ChatTemplate(source, variables).render({ messages: [{ role: "developer", content: "x" }, user] })).toBe(
    "system user ",
  );
});

test("gives a message as a list of parts to templates that read no other", () => {
  const parts =
    "{% for message in messages %}{% for part in message.content | selectattr('type', 'equalto', 'text') %}{{ part.text | trim }}{% endfor %}{% endfor %}";
  const loop =
    "{% for message in messages %}{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}";
  const both =
    "{% for message in messages %}{% if message.content is string %}={{ message.content }}{% else %}{{ message.content[0].text }}{% endif %}{% endfor %}";
  expect(new ChatTemplate(parts, variables).render({ messages: [user] })).toBe(user.content);
  expect(new ChatTemplate(loop, variables).render({ messages: [user] })).toBe(user.content);
  expect(new ChatTemplate(both, variables).render({ messages: [user] })).toBe(`=${user.content}`);
});

test("turns a template's refusal into a Fault with its words", () => {
  const source =
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{{ messages[0].content }}";
  const template = new ChatTemplate(source, variables);
  expect(() => template.render({ messages: [{ role: "system", content: "x" }] })).toThrow(
    expect.objectContaining({
      kind: "invalid-request",
      param: "messages",
      message: expect.stringContaining("System role not supported"),
    }),
  );
  expect(template.render({ messages: [user] })).toBe(user.content);
});

test("uses ChatML when the file brings no template", () => {
  expect(new ChatTemplate(undefined, variables).render({ messages: [user] })).toBe(
    "<|im_start|>user\nHi {{ bos_token }}<|im_end|>\n<|im_start|>assistant\n",
  );
});

test("refuses to open with what is no template", () => {
  expect(() => new ChatTemplate("{% for %}", variables)).toThrow(
    expect.objectContaining({
      kind: "unavailable",
      code: "engine_failed",
      message: expect.stringContaining("template"),
    }),
  );
});

test("tells a tool's result by the call before it, where ids are used again", () => {
  const source = "{% for message in messages %}{{ message.role }} {{ message.name }};{% endfor %}";
  const call = (name: string): ChatMessage => ({
    role: "assistant",
    content: "",
    toolCalls: [{ id: "call_0", name, arguments: "{}" }],
  });
  const result: ChatMessage = { role: "tool", content: "1", toolCallId: "call_0" };
  const messages = [call("first"), result, call("second"), result];
  expect(new ChatTemplate(source, variables).render({ messages })).toBe(
    "assistant ;tool first;assistant ;tool second;",
  );
});
