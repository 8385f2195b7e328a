import { expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/chat-request.ts";
import { HERMES, HERMES_THINKING, LLAMA_3 } from "../../../test/support/chat-templates.ts";
import { AnswerPlanner } from "./answer-plan.ts";
import { ChatTemplate } from "./chat-template.ts";
import type { WantedGrammar } from "./grammar-text.ts";
import type { GrammarState } from "./unpublished.ts";

const GPT_OSS = `${HERMES}{# <|channel|>analysis<|message|> #}{{ reasoning_effort }}`;
const OPENS_THOUGHTS = `${HERMES}<think>\n{% if false %}</think>{% endif %}`;
const tools = [{ name: "get", description: undefined, parameters: undefined, param: "tools[0]" }];
const json = { type: "json" as const };

/** Which grammars were asked for stands where the grammars would. */
async function planOf(source: string, asked: Parameters<typeof makeChatRequest>[0]) {
  const template = new ChatTemplate(source, { bos_token: "", eos_token: "<|im_end|>" });
  const planner = new AnswerPlanner(
    template,
    { endTexts: ["<|im_end|>"], silentTokens: () => new Set() },
    { get: async ({ kind }: WantedGrammar) => kind as unknown as GrammarState },
  );
  const request = makeChatRequest(asked);
  const { shape, prefill, afterThought, contentGrammar, callGrammar, isHeld } = await planner.plan(
    request,
    template.render(planner.said(request)),
  );
  return { start: shape.start, prefill, afterThought, contentGrammar, callGrammar, isHeld };
}

const free = { start: "content", prefill: "", afterThought: "", contentGrammar: undefined, callGrammar: undefined };

test.each<[what: string, source: string, asked: Parameters<typeof makeChatRequest>[0], plan: object]>([
  ["plain text", HERMES, {}, { ...free, isHeld: false }],
  ["a format", HERMES, { format: json }, { ...free, contentGrammar: "format", isHeld: true }],
  ["tools that may be called", HERMES, { tools }, { ...free, callGrammar: "calls", isHeld: false }],
  ["tools that must not be called", HERMES, { tools, toolChoice: "none" }, { ...free, isHeld: false }],
  [
    "a call that is required",
    HERMES,
    { tools, toolChoice: "required", format: json },
    { ...free, start: "call", prefill: "<tool_call>", afterThought: "<tool_call>", callGrammar: "calls", isHeld: true },
  ],
  [
    "a format for what is no call",
    HERMES,
    { tools, format: json },
    { ...free, contentGrammar: "either", isHeld: true },
  ],
  ["thoughts as the model likes", HERMES_THINKING, {}, { ...free, isHeld: false }],
  [
    "a format after thoughts",
    HERMES_THINKING,
    { format: json },
    { ...free, start: "reasoning", prefill: "<think>", contentGrammar: "format", isHeld: true },
  ],
  [
    "a format without thoughts",
    HERMES_THINKING,
    { format: json, reasoningEffort: "none" },
    { ...free, contentGrammar: "format", isHeld: true },
  ],
  [
    "a call after thoughts",
    HERMES_THINKING,
    { tools, toolChoice: { name: "get" } },
    {
      ...free,
      start: "reasoning",
      prefill: "<think>",
      afterThought: "<tool_call>",
      callGrammar: "calls",
      isHeld: true,
    },
  ],
  [
    "a format after thoughts that the template begins",
    OPENS_THOUGHTS,
    { format: json },
    { ...free, start: "reasoning", contentGrammar: "format", isHeld: true },
  ],
  [
    "a format in a frame",
    GPT_OSS,
    { format: json, reasoningEffort: "low" },
    {
      ...free,
      start: "reasoning",
      prefill: "<|channel|>analysis<|message|>",
      afterThought: "<|start|>assistant<|channel|>final<|message|>",
      contentGrammar: "format",
      isHeld: true,
    },
  ],
])("plans %s", async (_what, source, asked, plan) => {
  expect(await planOf(source, asked)).toEqual(plan);
});

test.each<[what: string, source: string, asked: Parameters<typeof makeChatRequest>[0], param: string]>([
  ["a format and calls that look alike", LLAMA_3, { tools, format: json }, "response_format"],
  ["a tool that there is not", HERMES, { tools, toolChoice: { name: "other" } }, "tool_choice"],
  ["tools that the template does not show", "{{ messages[0].content }}", { tools }, "tools"],
])("refuses %s", async (_what, source, asked, param) => {
  await expect(planOf(source, asked)).rejects.toMatchObject({ kind: "invalid-request", param });
});
