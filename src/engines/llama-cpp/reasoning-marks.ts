/** Between which marks a model thinks before it answers, by what its chat template says. */

import type { ChatTemplate } from "./chat-template.ts";

export interface ReasoningMarks {
  open: string;
  close: string;
  /** Texts that frame the answer itself and are no part of it. */
  frame: readonly string[];
  /** What stands between the thoughts' end and the answer, or a call's mark, where that takes more than white space. */
  beforeAnswer: string;
  beforeCall: string;
}

const FAMILIES: readonly ReasoningMarks[] = [
  // gpt-oss
  {
    open: "<|channel|>analysis<|message|>",
    close: "<|end|>",
    frame: ["<|start|>assistant", "<|channel|>final<|message|>", "<|channel|>commentary "],
    beforeAnswer: "<|start|>assistant<|channel|>final<|message|>",
    beforeCall: "<|start|>assistant ",
  },
  ...[
    ["<think>", "</think>"],
    ["[THINK]", "[/THINK]"],
    ["<seed:think>", "</seed:think>"],
    ["<|START_THINKING|>", "<|END_THINKING|>"],
    ["<|inner_prefix|>", "<|inner_suffix|>"],
    ["<thought>", "</thought>"],
  ].map(([open = "", close = ""]) => ({ open, close, frame: [], beforeAnswer: "", beforeCall: "" })),
];

/** Undefined for models that do not think. */
export function reasoningMarksOf({ source }: ChatTemplate): ReasoningMarks | undefined {
  // gpt-oss writes its marks piece by piece; of the others a template shows at least the end, to leave old thoughts out.
  if (source.includes("<|channel|>analysis")) return FAMILIES[0];
  return FAMILIES.slice(1).find(({ close }) => source.includes(close));
}
