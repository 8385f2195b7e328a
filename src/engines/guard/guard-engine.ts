import { z } from "zod";
import { Secret } from "../../secret.ts";
import { defineEngine } from "../define-engine.ts";
import { GUARD_FORMATS } from "./formats.ts";

type Family = keyof typeof GUARD_FORMATS;
const FAMILIES = Object.keys(GUARD_FORMATS) as [Family, ...Family[]];

const settings = z
  .strictObject({
    family: z
      .enum(FAMILIES)
      .describe(
        "Family of the model, which decides prompt and categories. Experimental: prompts and verdicts follow the publishers' documentation, but no family has been run with its own weights by this project",
      ),
    chat: z
      .looseObject({ engine: z.string().describe("A chat engine") })
      .describe("A deployment of a chat engine that runs the model: its `engine` and that engine's own settings"),
    thresholds: z
      .record(z.string(), z.number().min(0).max(1))
      .default({})
      .describe("By category, the score from which it is flagged. Left out: 0.5"),
    parallel: z.int().min(1).max(256).default(4).describe("Questions that are asked at once"),
  })
  // It may hold an upstream's key, which only its own engine's schema knows to keep.
  .transform(({ chat, ...rest }) => ({ ...rest, chat: new Secret(JSON.stringify(chat)) }));

/** Language models trained to judge text, run by any chat engine. */
export const guardEngine = defineEngine({
  name: "guard",
  tasks: ["moderation"],
  settings,
  chat: ({ chat }) => chat,
  module: () => import("./guard-model.ts"),
});
