/** Bodies of Cohere's POST /v2/chat. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { Tools } from "../openai/chat/chat-tools.ts";
import { openVariants } from "../openai/open-variants.ts";
import { optional } from "../openai/optional.ts";
import { parse } from "../openai/validate.ts";
import { named } from "../openapi/named.ts";

const Free = z.record(z.string(), z.unknown());
const Penalty = z.number().min(0).max(1);
const Text = lazy.looseObject(() => ({ text: z.string() }));
const Image = lazy.looseObject(() => ({ image_url: z.looseObject({ url: z.string().min(1) }) }));
const Document = lazy.looseObject(() => ({ id: optional(z.string()), data: z.union([z.string(), Free]) }));

const UserContent = z.union([z.string(), listOf(openVariants({ text: Text, image_url: Image })).min(1)]);
const AssistantContent = z.union([
  z.string(),
  listOf(openVariants({ text: Text, thinking: z.looseObject({ thinking: z.string() }) })),
]);
const ToolContent = z.union([
  z.string(),
  listOf(openVariants({ text: Text, document: z.looseObject({ document: Document }) })),
]);
const Call = lazy.looseObject(() => ({
  id: z.string().min(1),
  type: optional(z.literal("function")),
  function: z.looseObject({ name: z.string().min(1), arguments: z.string() }),
}));

const Message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("system"), content: UserContent }),
    z.looseObject({ role: z.literal("user"), content: UserContent }),
    lazy.looseObject(() => ({
      role: z.literal("assistant"),
      content: AssistantContent.nullish(),
      tool_calls: listOf(Call).nullish(),
      tool_plan: z.string().nullish(),
    })),
    lazy.looseObject(() => ({ role: z.literal("tool"), tool_call_id: z.string().min(1), content: ToolContent })),
  ],
  { error: "it must be system, user, assistant or tool" },
);

export type Message = z.output<typeof Message>;

export const CohereChatBody = named(
  "CohereChatBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    messages: listOf(Message).min(1),
    stream: optional(z.boolean()),
    tools: optional(Tools),
    strict_tools: optional(z.boolean()),
    tool_choice: optional(z.enum(["REQUIRED", "NONE"])),
    documents: optional(listOf(z.union([z.string(), Document]))).describe("Texts that the model reads first."),
    citation_options: optional(z.looseObject({ mode: optional(z.string()) })),
    response_format: optional(
      z.looseObject({
        type: z.enum(["text", "json_object"]),
        json_schema: optional(Free),
        /** Its name in version 1. */
        schema: optional(Free),
      }),
    ),
    safety_mode: optional(z.string()),
    max_tokens: optional(z.int().min(1)),
    stop_sequences: optional(listOf(z.string().min(1)).max(5)),
    temperature: optional(z.number().min(0).max(2)),
    seed: optional(z.int().min(0)),
    frequency_penalty: optional(Penalty),
    presence_penalty: optional(Penalty),
    k: optional(z.int().min(0).max(500)),
    p: optional(z.number().min(0).max(1)),
    thinking: optional(
      z.looseObject({ type: z.enum(["enabled", "disabled"]), token_budget: optional(z.int().min(1)) }),
    ),
    priority: optional(z.int().min(0).max(999)),
  })),
);

export type CohereChatBody = z.output<typeof CohereChatBody>;

/** Throws a Fault that names the first invalid field. */
export function readCohereChatBody(value: unknown): CohereChatBody {
  return parse(CohereChatBody, value);
}
