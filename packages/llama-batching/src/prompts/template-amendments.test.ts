import { expect, test } from "vitest";
import { DEEPSEEK_3_1, HERMES, KIMI_K2, LFM2 } from "../../test/chat-templates.ts";
import { ChatTemplate } from "./chat-template.ts";
import { amendTemplate } from "./template-amendments.ts";

const tools = [{ name: "get", description: "Gets it.", parameters: { type: "object", properties: {} } }];
const call = (id: string, value: object) => ({ id, name: "get", arguments: JSON.stringify(value) });
const messages = [
  { role: "user" as const, content: "Hi" },
  { role: "assistant" as const, content: "", toolCalls: [call("1", { city: "São 'Paulo'", days: 2 }), call("2", {})] },
  { role: "tool" as const, content: "sunny", toolCallId: "1" },
  { role: "tool" as const, content: "rainy", toolCallId: "2" },
];
const render = (source: string) =>
  new ChatTemplate(source, { bos_token: "<s>", eos_token: "</s>" }).render({ messages, tools });

test("shows calls where LFM2's template leaves them out", () => {
  const prompt = render(LFM2);
  expect(prompt).toContain(
    `assistant\n<|tool_call_start|>[get(city="São 'Paulo'", days=2), get()]<|tool_call_end|><|im_end|>`,
  );
  expect(prompt).toContain("tool\nrainy<|im_end|>");
});

test("describes tools where DeepSeek 3.1's template leaves them out, and says nothing without any", () => {
  expect(render(DEEPSEEK_3_1)).toContain('### get\nDescription: Gets it.\n\nParameters: {"type": "object"');
  const template = new ChatTemplate(DEEPSEEK_3_1, { bos_token: "<s>", eos_token: "</s>" });
  expect(template.render({ messages: messages.slice(0, 1) })).toBe("<s><｜user｜>Hi");
});

test("appends to lists and removes from them as Kimi K2's template does", () => {
  const prompt = render(KIMI_K2);
  expect(prompt).toContain("functions.get:0<|tool_call_argument_begin|>");
  expect(prompt).toMatch(/functions\.get:1<.*Return of functions\.get:0: sunny.*Return of functions\.get:1: rainy/s);
});

test("changes no other template", () => {
  expect(amendTemplate(HERMES)).toBe(HERMES);
});
