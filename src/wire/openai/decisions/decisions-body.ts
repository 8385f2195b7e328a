/** POST /v1/decisions: validates the body, and reads its input as messages. */

import { z } from "zod";
import type { ChatMessage } from "../../../contracts/chat-message.ts";
import { invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { named } from "../../openapi/named.ts";
import { Input, type InputItem, type SentInput, toChatMessages, typeOf } from "../../responses/responses-input.ts";
import { openVariants } from "../open-variants.ts";
import { optional } from "../optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy } from "../unknown-fields.ts";
import { parse } from "../validate.ts";

const MAX_QUESTIONS = 400;
const MAX_CHOICES = 255;
const MAX_LEVELS = 10;
const MAX_NAME_LENGTH = 256;
const MAX_LABEL_LENGTH = 1000;
/** Characters of an instruction or a description. */
const MAX_TEXT_LENGTH = 100_000;
const MAX_PARTS = 100;

const Text = z.string().max(MAX_TEXT_LENGTH);
const JsonPart = z.looseObject({
  data: z.union([z.record(z.string(), z.unknown()), listOf(z.record(z.string(), z.unknown()))]),
});

const Instructions = z.union([
  Text.min(1),
  listOf(
    openVariants({
      input_text: z.looseObject({ text: Text }),
      input_image: lazy.looseObject(() => ({ image_url: z.string().min(1), detail: z.string().nullish() })),
      input_json: JsonPart,
    }),
  )
    .min(1)
    .max(MAX_PARTS),
]);

const Label = z.string().min(1).max(MAX_LABEL_LENGTH);
const Asked = lazy.looseObject(() => ({ name: z.string().max(MAX_NAME_LENGTH).nullish(), instructions: Instructions }));

const Question = z.discriminatedUnion(
  "type",
  [
    Asked.extend({ type: z.literal("predicate") }),
    Asked.extend({
      type: z.literal("choice"),
      choices: listOf(z.looseObject({ value: z.union([Label, z.boolean()]), description: Text.nullish() }))
        .min(2)
        .max(MAX_CHOICES),
    }),
    Asked.extend({
      type: z.literal("score"),
      levels: listOf(z.looseObject({ label: Label, description: Text.nullish() }))
        .min(2)
        .max(MAX_LEVELS)
        .describe("From the lowest to the highest."),
    }),
  ],
  { error: "it must be predicate, choice or score" },
);

export const DecisionBody = named(
  "DecisionBody",
  lazy.looseObject(() => ({
    model: z.string().min(1),
    input: Input,
    questions: listOf(Question).min(1).max(MAX_QUESTIONS),
    prompt_cache_key: optional(z.string()),
    prompt_cache_options: optional(z.looseObject({ mode: optional(z.string()), ttl: optional(z.string()) })),
    safety_identifier: optional(z.string()),
  })),
);

export type DecisionQuestion = z.output<typeof Question>;
export type QuestionInstructions = DecisionQuestion["instructions"];

export interface ParsedDecision {
  body: Pick<
    z.output<typeof DecisionBody>,
    "model" | "prompt_cache_key" | "prompt_cache_options" | "safety_identifier"
  >;
  /** Its JSON parts are texts. */
  input: SentInput;
  questions: readonly DecisionQuestion[];
}

/** Returns the names of ignored fields. Throws a Fault for a field that must not be ignored. */
export function ignoredDecisionFields(body: unknown, policy: UnknownFieldsPolicy): string[] {
  return checkUnknownFields(body, { known: Object.keys(DecisionBody.shape), unsupported: {}, policy });
}

/** Validates the body. Throws a Fault that names the invalid field. */
export function readDecision(value: unknown): ParsedDecision {
  const { input, questions, ...body } = parse(DecisionBody, value);
  for (const [index, question] of questions.entries()) checkQuestion(question, `questions[${index}]`);
  const read = typeof input === "string" ? input : input.map((item, index) => toTextItem(item, `input[${index}]`));
  return { body, input: read, questions };
}

/** Converts the input to the messages that every question is about. Throws a Fault for what no model reads. */
export function toInputMessages(input: SentInput): ChatMessage[] {
  return toChatMessages(undefined, { context: [], input });
}

const ITEM_TYPES: ReadonlySet<string> = new Set([
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
]);

function toTextItem(item: InputItem, path: string): InputItem {
  const type = typeOf(item);
  if (!ITEM_TYPES.has(type)) {
    const message = `Decisions read messages, and calls of tools with their outputs, not items of the type '${type.slice(0, 100)}'.`;
    throw unsupportedValue(message, `${path}.type`);
  }
  const content = toTextParts(item.content, `${path}.content`);
  return content === item.content ? item : ({ ...item, content } as InputItem);
}

/** Puts texts in the place of JSON parts, whose values may look like addresses. */
function toTextParts(content: unknown, path: string): unknown {
  if (!Array.isArray(content)) return content;
  return content.map((part: Readonly<Record<string, unknown>>, index) => {
    if (part.type !== "input_json") return part;
    const { data, ...others } = part;
    if (!JsonPart.safeParse(part).success) {
      throw invalidRequest("It must be an object or a list of objects.", `${path}[${index}].data`);
    }
    return { ...others, type: "input_text", text: JSON.stringify(data) };
  });
}

function checkQuestion(question: DecisionQuestion, path: string): void {
  if (question.type === "choice") {
    checkUnique(
      question.choices.map(({ value }) => `${typeof value}:${value}`),
      `${path}.choices`,
      "value",
    );
  }
  if (question.type === "score")
    checkUnique(
      question.levels.map(({ label }) => label),
      `${path}.levels`,
      "label",
    );
  if (typeof question.instructions === "string") return;
  for (const [index, part] of question.instructions.entries()) {
    const at = `${path}.instructions[${index}]`;
    if (!["input_text", "input_image", "input_json"].includes(part.type)) {
      const message = `Instructions have parts of the types input_text, input_image and input_json, not '${part.type.slice(0, 100)}'.`;
      throw unsupportedValue(message, `${at}.type`);
    }
    // What stands in the input is fetched once; a question would be fetched by whoever answers it.
    if (part.type === "input_image" && !/^data:/i.test(String(part.image_url))) {
      throw unsupportedValue("Images in instructions are data URLs here, not addresses.", `${at}.image_url`);
    }
  }
}

function checkUnique(values: readonly string[], path: string, field: string): void {
  const seen = new Set<string>();
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) throw invalidRequest("It stands there twice.", `${path}[${index}].${field}`, "invalid_value");
    seen.add(value);
  }
}
