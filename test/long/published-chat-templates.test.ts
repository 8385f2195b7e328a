/**
 * Chat templates as the authors of models publish them, which llama.cpp collects: `scripts/fetch-chat-templates.sh FOLDER`
 * and `PARLANCE_CHAT_TEMPLATES=FOLDER`. They have licenses of their own, so they are not in this repository.
 */

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OutputParser } from "../../packages/llama-batching/src/output/output-parser.ts";
import { detectToolCallFormat } from "../../packages/llama-batching/src/output/tool-call-format.ts";
import { ToolCallParser } from "../../packages/llama-batching/src/output/tool-call-parser.ts";
import { ChatTemplate } from "../../packages/llama-batching/src/prompts/chat-template.ts";
import { detectReasoningTags } from "../../packages/llama-batching/src/prompts/reasoning-tags.ts";

const folder = process.env.PARLANCE_CHAT_TEMPLATES ?? "";
const END_TEXTS = ["<|im_end|>", "<|eot_id|>", "</s>", "<|call|>", "<turn|>", "<|tool_response>"];

/** `tools`: text that begins a call. */
const FAMILIES: Readonly<Record<string, { tools: string; reasoning: string | undefined }>> = {
  "Qwen3.5-4B": { tools: "<tool_call>", reasoning: "<think>" },
  "Qwen3-Coder": { tools: "<tool_call>", reasoning: undefined },
  "Qwen-Qwen3-0.6B": { tools: "<tool_call>", reasoning: "<think>" },
  "google-gemma-4-31B-it": { tools: "<|tool_call>", reasoning: "<|channel>thought" },
  "openai-gpt-oss-120b": { tools: "to=functions.", reasoning: "<|channel|>analysis<|message|>" },
  "GLM-4.6": { tools: "<tool_call>", reasoning: "<think>" },
  "GLM-4.7-Flash": { tools: "<tool_call>", reasoning: "<think>" },
  "deepseek-ai-DeepSeek-V3.1": { tools: "<｜tool▁calls▁begin｜>", reasoning: "<think>" },
  "deepseek-ai-DeepSeek-V3.2": { tools: "<｜DSML｜function_calls>", reasoning: "<think>" },
  "deepseek-ai-DeepSeek-V4": { tools: "<｜DSML｜tool_calls>", reasoning: "<think>" },
  "mistralai-Ministral-3-14B-Reasoning-2512": { tools: "[TOOL_CALLS]", reasoning: "[THINK]" },
  "Mistral-Small-3.2-24B-Instruct-2506": { tools: "[TOOL_CALLS]", reasoning: undefined },
  "ibm-granite-granite-4.1": { tools: "<tool_call>", reasoning: undefined },
  "LFM2-8B-A1B": { tools: "<|tool_call_start|>", reasoning: undefined },
  "LFM2.5-8B-A1B": { tools: "<|tool_call_start|>", reasoning: "<think>" },
  "LFM2.5-Instruct": { tools: "<|tool_call_start|>", reasoning: "<think>" },
  "Kimi-K2-Instruct": { tools: "<|tool_calls_section_begin|>", reasoning: undefined },
  "Kimi-K2-Thinking": { tools: "<|tool_calls_section_begin|>", reasoning: "<think>" },
  "moonshotai-Kimi-K2": { tools: "<|tool_calls_section_begin|>", reasoning: undefined },
  "MiniMax-M2": { tools: "<minimax:tool_call>", reasoning: "<think>" },
  "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": { tools: "<tool_call>", reasoning: "<think>" },
  "StepFun3.5-Flash": { tools: "<tool_call>", reasoning: "<think>" },
  "meta-llama-Llama-3.3-70B-Instruct": { tools: "{", reasoning: undefined },
};

const properties = { city: { type: "string", description: "Name of a city" }, days: { type: "integer" } };
const tools = [
  {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties, required: ["city"] },
    param: "tools[0]",
  },
];
const call = { id: "abcdefghi", name: "get_weather", arguments: '{"city":"Paris","days":3}' };
const conversation = [
  { role: "system" as const, content: "SYSTEM-1" },
  { role: "user" as const, content: "USER-1" },
  { role: "assistant" as const, content: "", toolCalls: [call] },
  { role: "tool" as const, content: "RESULT-1", toolCallId: call.id },
  { role: "assistant" as const, content: "ANSWER-1" },
  { role: "user" as const, content: "USER-2" },
];

async function open(name: string) {
  const source = await readFile(join(folder, `${name}.jinja`), "utf8");
  const template = new ChatTemplate(source, { bos_token: "<s>", eos_token: "</s>" });
  const reasoning = detectReasoningTags(template);
  return { template, reasoning, format: detectToolCallFormat(template, END_TEXTS, reasoning) };
}

describe.skipIf(!existsSync(folder)).each(Object.entries(FAMILIES))("%s", (name, expected) => {
  test("shows the system message, tools, calls, results and answers", async () => {
    const { template, format } = await open(name);
    expect(format).toBeDefined();
    const prompt = template.render({ messages: conversation, tools });
    for (const text of [
      "SYSTEM-1",
      "USER-1",
      "RESULT-1",
      "ANSWER-1",
      "USER-2",
      "get_weather",
      "Name of a city",
      "Paris",
    ])
      expect(prompt).toContain(text);
  });

  test("says how the model reasons and calls tools", async () => {
    const { reasoning, format } = await open(name);
    expect({ tools: format?.trigger, reasoning: reasoning?.open }).toEqual(expected);
  });

  test("gives back the call that the template writes", async () => {
    const { template, format } = await open(name);
    if (format === undefined) throw new Error("No format was detected");
    const [, user, answer] = conversation as [object, (typeof conversation)[number], (typeof conversation)[number]];
    const rendered = template.render({ messages: [user, answer], tools, forAnswer: false });
    const start = rendered.lastIndexOf(format.trigger + format.open);
    expect(start).toBeGreaterThan(0);
    const parser = new ToolCallParser(format, tools);
    const parts = [...rendered.slice(start + format.trigger.length)].flatMap((piece) => parser.push(piece));
    expect(parts[0]).toEqual({ type: "call", name: "get_weather" });
    const json = parts.map((part) => (part.type === "arguments" ? part.text : "")).join("");
    expect(JSON.parse(json)).toEqual({ city: "Paris", days: 3 });
  });

  test("separates reasoning from the answer", async () => {
    const { reasoning } = await open(name);
    if (reasoning === undefined) return;
    const parser = new OutputParser({ start: "content", isReasoningDone: false, reasoning, calls: undefined });
    const written = `${reasoning.open}\nIt is simple.\n${reasoning.close}${reasoning.beforeContent}The answer.`;
    const texts = { reasoning: "", text: "" };
    for (let rest = written; rest !== ""; ) {
      const { parts, transition } = parser.push(rest.slice(0, 1));
      for (const part of [...parts])
        if (part.type in texts) texts[part.type as "text"] += (part as { text: string }).text;
      rest = (transition?.rest ?? "") + rest.slice(1);
    }
    for (const part of parser.end()) if (part.type === "text") texts.text += part.text;
    expect(texts).toEqual({ reasoning: "It is simple.", text: "The answer." });
  });
});
