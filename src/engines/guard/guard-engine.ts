import { z } from "zod";
import { Secret } from "../../kernel/secret.ts";
import { defineEngine } from "../define-engine.ts";
import { describeGuard } from "./describe-guard.ts";
import { GUARD_FORMATS } from "./formats.ts";

type Family = keyof typeof GUARD_FORMATS;
const FAMILIES = Object.keys(GUARD_FORMATS) as [Family, ...Family[]];

const settings = z
  .strictObject({
    family: z
      .enum(FAMILIES)
      .describe(
        "Model family, which determines the prompt and the categories. instruct: any instruction-tuned chat model, with a policy and examples that Parlance writes, measured with Qwen2.5-Coder 1.5B. The others are experimental: prompts and verdicts follow the publishers' documentation, and none is tested with its real weights",
      ),
    chat: z
      .looseObject({ engine: z.string().describe("A chat engine") })
      .describe("Deployment of a chat engine that runs the model: its `engine` and the settings of that engine"),
    thresholds: z
      .record(z.string(), z.number().min(0).max(1))
      .default({})
      .describe("Score from which a category is flagged, by category. Default: 0.5"),
    parallel: z.int().min(1).max(256).default(4).describe("Maximum concurrent questions to the model"),
  })
  // It may hold an upstream's key, which only that engine's schema marks as a secret.
  .transform(({ chat, ...rest }) => ({ ...rest, chat: new Secret(JSON.stringify(chat)) }));

/** Guard language models for moderation, run by any chat engine. */
export const guardEngine = defineEngine({
  name: "guard",
  tasks: ["moderation"],
  settings,
  nested: ({ chat }) => ({ chat: { task: "chat", deployment: chat } }),
  describe: async ({ family, thresholds }) => describeGuard(GUARD_FORMATS[family], thresholds),
  module: () => import("./guard-model.ts"),
});
