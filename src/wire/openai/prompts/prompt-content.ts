/** What a version of a stored prompt consists of, and how requests refer to one. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf, parsedListOf } from "../../../kernel/list-of.ts";

const MAX_TEMPLATE_CHARACTERS = 200_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
/** `{{ name }}` of a template. */
export const PLACEHOLDER = /\{\{\s*([A-Za-z_][A-Za-z0-9_]{0,63})\s*\}\}/g;

const variable = lazy.strictObject(() => ({
  name: z.string().regex(NAME, { error: "must be letters, digits and _, and begin with a letter or _" }),
  type: z
    .enum(["text", "number", "boolean", "enum", "json", "image", "file"])
    .default("text")
    .describe("image and file: parts of the message, in place of their placeholder."),
  description: z.string().max(1000).optional(),
  options: listOf(z.string().max(1000)).min(1).max(100).optional().describe("Values of the type enum."),
  default: z.union([z.string(), z.number(), z.boolean()]).optional().describe("Value without one in the request."),
}));

const message = lazy.strictObject(() => ({
  role: z.enum(["developer", "system", "user", "assistant"]),
  content: z
    .string()
    .min(1)
    .max(MAX_TEMPLATE_CHARACTERS)
    .describe("Text in which `{{name}}` stands for the value of a variable."),
}));

const functionTool = lazy.looseObject(() => ({
  type: z.literal("function"),
  name: z.string().min(1).max(64),
  description: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).optional(),
}));

const format = z.discriminatedUnion("type", [
  z.strictObject({ type: z.enum(["text", "json_object"]) }),
  lazy.looseObject(() => ({
    type: z.literal("json_schema"),
    name: z.string().min(1).max(64),
    schema: z.record(z.string(), z.unknown()),
  })),
]);

/** Settings apply where a request does not say otherwise. */
export const PromptContent = lazy.strictObject(() => ({
  messages: parsedListOf(message).min(1).max(100),
  variables: parsedListOf(variable)
    .max(100)
    .default([])
    .describe("Placeholders that are not listed are variables of the type text."),
  model: z.string().min(1).max(200).optional(),
  temperature: z.number().min(0).max(2).optional(),
  top_p: z.number().min(0).max(1).optional(),
  max_output_tokens: z.int().min(1).optional(),
  reasoning_effort: z.string().min(1).max(20).optional(),
  format: format.optional().describe("As `text.format` of the Responses API."),
  tools: parsedListOf(functionTool).max(128).optional().describe("Functions, as in the Responses API."),
}));

export type PromptContent = z.output<typeof PromptContent>;
export type PromptVariable = z.output<typeof variable>;

/** `prompt` of a request. */
export const PromptReference = lazy.strictObject(() => ({
  id: z.string().min(1).max(200).describe("ID of a stored prompt, or its name."),
  version: z
    .string()
    .min(1)
    .max(64)
    .nullish()
    .describe(
      "Number or label of a version. Default: the one with the label production; without that label, the newest.",
    ),
  variables: z
    .record(z.string(), z.unknown())
    .nullish()
    .describe("Values: texts, numbers, booleans, JSON, or parts such as input_image."),
}));

export type PromptReference = z.output<typeof PromptReference>;
