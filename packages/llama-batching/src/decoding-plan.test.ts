import { expect, test } from "vitest";
import { HERMES, HERMES_THINKING, LLAMA_3 } from "../test/chat-templates.ts";
import { makeGenerationRequest } from "../test/generation-request.ts";
import { DecodingPlanner } from "./decoding-plan.ts";
import { ChatTemplate } from "./prompts/chat-template.ts";
import type { GrammarState } from "./sampling/grammar-state.ts";
import type { GrammarRequest } from "./sampling/grammar-text.ts";

const GPT_OSS = `${HERMES}{# <|channel|>analysis<|message|> #}{{ reasoning_effort }}`;
const OPENS_REASONING = `${HERMES}<think>\n{% if false %}</think>{% endif %}`;
const tools = [{ name: "get", description: undefined, parameters: undefined, param: "tools[0]" }];
const json = { type: "json" as const };

/** Returns the kind of each requested grammar in place of the grammar. */
async function planOf(source: string, asked: Parameters<typeof makeGenerationRequest>[0]) {
  const template = new ChatTemplate(source, { bos_token: "", eos_token: "<|im_end|>" });
  const planner = new DecodingPlanner(
    template,
    { endTexts: ["<|im_end|>"], hiddenTokens: () => new Set() },
    { get: async ({ kind }: GrammarRequest) => kind as unknown as GrammarState },
  );
  const request = makeGenerationRequest(asked);
  const { syntax, prefill, afterReasoning, contentGrammar, callGrammar, isConstrained } = await planner.plan(
    request,
    template.render(planner.promptInput(request)),
  );
  return { start: syntax.start, prefill, afterReasoning, contentGrammar, callGrammar, isConstrained };
}

const free = { start: "content", prefill: "", afterReasoning: "", contentGrammar: undefined, callGrammar: undefined };

test.each<[what: string, source: string, asked: Parameters<typeof makeGenerationRequest>[0], plan: object]>([
  ["plain text", HERMES, {}, { ...free, isConstrained: false }],
  ["a format", HERMES, { format: json }, { ...free, contentGrammar: "format", isConstrained: true }],
  ["tools that may be called", HERMES, { tools }, { ...free, callGrammar: "calls", isConstrained: false }],
  ["tools that may not be called", HERMES, { tools, toolChoice: "none" }, { ...free, isConstrained: false }],
  [
    "a required call",
    HERMES,
    { tools, toolChoice: "required", format: json },
    {
      ...free,
      start: "call",
      prefill: "<tool_call>",
      afterReasoning: "<tool_call>",
      callGrammar: "calls",
      isConstrained: true,
    },
  ],
  [
    "a format beside optional tools",
    HERMES,
    { tools, format: json },
    { ...free, contentGrammar: "either", isConstrained: true },
  ],
  ["optional reasoning", HERMES_THINKING, {}, { ...free, isConstrained: false }],
  [
    "a format after reasoning",
    HERMES_THINKING,
    { format: json },
    { ...free, start: "reasoning", prefill: "<think>", contentGrammar: "format", isConstrained: true },
  ],
  [
    "a format without reasoning",
    HERMES_THINKING,
    { format: json, reasoningEffort: "none" },
    { ...free, contentGrammar: "format", isConstrained: true },
  ],
  [
    "a call after reasoning",
    HERMES_THINKING,
    { tools, toolChoice: { name: "get" } },
    {
      ...free,
      start: "reasoning",
      prefill: "<think>",
      afterReasoning: "<tool_call>",
      callGrammar: "calls",
      isConstrained: true,
    },
  ],
  [
    "tools without a place in the template",
    "{{ messages[0].content }}",
    { tools, toolChoice: "required" },
    {
      ...free,
      start: "call",
      prefill: "<tool_call>",
      afterReasoning: "<tool_call>",
      callGrammar: "calls",
      isConstrained: true,
    },
  ],
  [
    "a format after reasoning that the template opens",
    OPENS_REASONING,
    { format: json },
    { ...free, start: "reasoning", contentGrammar: "format", isConstrained: true },
  ],
  [
    "a format in a frame",
    GPT_OSS,
    { format: json, reasoningEffort: "low" },
    {
      ...free,
      start: "reasoning",
      prefill: "<|channel|>analysis<|message|>",
      afterReasoning: "<|start|>assistant<|channel|>final<|message|>",
      contentGrammar: "format",
      isConstrained: true,
    },
  ],
])("plans %s", async (_what, source, asked, plan) => {
  expect(await planOf(source, asked)).toEqual(plan);
});

test("passes template variables of the request, which an effort overrides", () => {
  const template = new ChatTemplate(HERMES_THINKING, { bos_token: "", eos_token: "<|im_end|>" });
  const planner = new DecodingPlanner(
    template,
    { endTexts: ["<|im_end|>"], hiddenTokens: () => new Set() },
    { get: async () => expect.fail("no grammar is needed") },
  );
  const render = (fields: Parameters<typeof makeGenerationRequest>[0]) =>
    template.render(planner.promptInput(makeGenerationRequest(fields)));
  const templateVariables = { enable_thinking: false };
  expect(render({ templateVariables })).toMatch(/<\/think>\s*$/);
  expect(render({ templateVariables, reasoningEffort: "high" })).not.toContain("</think>");
  expect(render({ templateVariables: { messages: [], tools: ["x"] } })).toBe(render({}));
});

test.each<[what: string, source: string, asked: Parameters<typeof makeGenerationRequest>[0], param: string]>([
  ["a format and calls that look alike", LLAMA_3, { tools, format: json }, "response_format"],
  ["an unknown tool", HERMES, { tools, toolChoice: { name: "other" } }, "tool_choice"],
])("rejects %s", async (_what, source, asked, param) => {
  await expect(planOf(source, asked)).rejects.toMatchObject({ name: "RequestError", param });
});
