import { expect, test } from "vitest";
import { newCallId } from "../call-id.ts";
import type { PromptMessage } from "../types.ts";
import { ChatTemplate } from "./chat-template.ts";

const variables = { bos_token: "<s>", eos_token: "</s>" };
const user: PromptMessage = { role: "user", content: "Hi {{ bos_token }}" };

test("renders BOS and EOS and leaves template syntax in messages unchanged", () => {
  const source =
    "{{ bos_token }}{% for message in messages %}[{{ message.role }}] {{ message.content }}{{ eos_token }}{% endfor %}";
  expect(new ChatTemplate(source, variables).render({ messages: [user] })).toBe("<s>[user] Hi {{ bos_token }}</s>");
});

test("renders a developer message as a system message", () => {
  const source = "{% for message in messages %}{{ message.role }} {% endfor %}";
  expect(new ChatTemplate(source, variables).render({ messages: [{ role: "developer", content: "x" }, user] })).toBe(
    "system user ",
  );
});

test("passes content as parts to templates that read only parts", () => {
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

test("throws a RequestError with the template's message", () => {
  const source =
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{{ messages[0].content }}";
  const template = new ChatTemplate(source, variables);
  expect(() => template.render({ messages: [{ role: "system", content: "x" }] })).toThrow(
    expect.objectContaining({
      name: "RequestError",
      param: "messages",
      message: expect.stringContaining("System role not supported"),
    }),
  );
  expect(template.render({ messages: [user] })).toBe(user.content);
});

test("uses ChatML without a template", () => {
  expect(new ChatTemplate(undefined, variables).render({ messages: [user] })).toBe(
    "<|im_start|>user\nHi {{ bos_token }}<|im_end|>\n<|im_start|>assistant\n",
  );
});

test("throws a ModelError for an invalid template", () => {
  expect(() => new ChatTemplate("{% for %}", variables)).toThrow(
    expect.objectContaining({
      name: "ModelError",
      message: expect.stringContaining("template"),
    }),
  );
});

test("renders the name of a participant if the template supports it", () => {
  const source = "{% for message in messages %}{{ message.name or message.role }}: {{ message.content }}{% endfor %}";
  expect(new ChatTemplate(source, variables).render({ messages: [{ ...user, content: "Hi", name: "Ada" }] })).toBe(
    "Ada: Hi",
  );
});

test("names the function of a tool result by the preceding call when ids repeat", () => {
  const source = "{% for message in messages %}{{ message.role }} {{ message.name }};{% endfor %}";
  const call = (name: string): PromptMessage => ({
    role: "assistant",
    content: "",
    toolCalls: [{ id: "call_0", name, arguments: "{}" }],
  });
  const result: PromptMessage = { role: "tool", content: "1", toolCallId: "call_0" };
  const messages = [call("first"), result, call("second"), result];
  expect(new ChatTemplate(source, variables).render({ messages })).toBe(
    "assistant ;tool first;assistant ;tool second;",
  );
});

test("shows call IDs of this package without their prefix, and other IDs as they are", () => {
  const source =
    "{% for message in messages %}{% if message.tool_calls %}{% for call in message.tool_calls %}{{ call.id }};{% endfor %}{% endif %}{{ message.tool_call_id }};{% endfor %}";
  const render = (id: string) => {
    const messages: PromptMessage[] = [
      { role: "assistant", content: "", toolCalls: [{ id, name: "f", arguments: "{}" }] },
      { role: "tool", content: "1", toolCallId: id },
    ];
    return new ChatTemplate(source, variables).render({ messages });
  };
  const id = newCallId();
  expect(id).toMatch(/^call_[a-zA-Z0-9]{9}$/);
  expect(render(id)).toBe(`${id.slice(5)};;${id.slice(5)};`);
  expect(render("call_long_identifier")).toBe("call_long_identifier;;call_long_identifier;");
});
