/** Tags around a model's reasoning, detected from its chat template. */

import type { ChatTemplate } from "./chat-template.ts";

export interface ReasoningTags {
  open: string;
  close: string;
  /** Texts around the content that are not part of it. */
  frame: readonly string[];
  /** Text between the end of the reasoning and the content, or the trigger of a tool call, beyond white space. */
  beforeContent: string;
  beforeCall: string;
}

const FAMILIES: readonly ReasoningTags[] = [
  // gpt-oss
  {
    open: "<|channel|>analysis<|message|>",
    close: "<|end|>",
    frame: ["<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>commentary "],
    beforeContent: "<|start|>assistant<|channel|>final<|message|>",
    beforeCall: "<|start|>assistant ",
  },
  ...[
    ["<think>", "</think>"],
    ["[THINK]", "[/THINK]"],
    ["<seed:think>", "</seed:think>"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|inner_prefix|>", "<|inner_suffix|>"],
    ["<thought>", "</thought>"],
    // Gemma 4
    ["<|channel>thought", "<channel|>"],
  ].map(([open = "", close = ""]) => ({ open, close, frame: [], beforeContent: "", beforeCall: "" })),
];

/** Returns undefined for models that do not reason. */
export function detectReasoningTags({ source }: ChatTemplate): ReasoningTags | undefined {
  // gpt-oss builds its tags from pieces. The other templates contain at least the closing tag, to drop earlier reasoning.
  if (source.includes("<|channel|>analysis")) return FAMILIES[0];
  return FAMILIES.slice(1).find(({ close }) => source.includes(close));
}
