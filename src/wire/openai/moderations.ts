/** POST /v1/moderations: validates the body and renders the verdicts. */

import { z } from "zod";
import type { ModerationInput, ModerationVerdict } from "../../contracts/moderation-model.ts";
import { Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parsedListOf } from "../../kernel/list-of.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { checkUnknownFields, type UnknownFieldsPolicy } from "./unknown-fields.ts";
import { parse } from "./validate.ts";

const Part = z.discriminatedUnion(
  "type",
  [
    lazy.looseObject(() => ({ type: z.literal("text"), text: z.string() })),
    lazy.looseObject(() => ({ type: z.literal("image_url"), image_url: z.looseObject({ url: z.string().min(1) }) })),
  ],
  { error: "it must be text or image_url" },
);

export const ModerationBody = named(
  "ModerationBody",
  lazy.object(() => ({
    model: z
      .string()
      .min(1)
      .nullish()
      .transform((model) => model ?? undefined),
    input: z.union([z.string(), parsedListOf(z.union([z.string(), Part]))]).check(({ value, issues }) => {
      if (typeof value === "string") return;
      const refuse = (message: string) => issues.push({ code: "custom", path: [], input: value, message });
      if (value.length === 0) refuse("it must have at least one entry");
      const texts = value.filter((entry) => typeof entry === "string").length;
      if (texts > 0 && texts < value.length) refuse("it must be strings only or parts only, not both");
    }),
  })),
);

export const ModerationResult = named(
  "ModerationResult",
  lazy.object(() => ({
    flagged: z.boolean(),
    categories: z.record(z.string(), z.boolean()),
    category_scores: z.record(z.string(), z.number()),
    category_applied_input_types: z.record(z.string(), z.array(z.string())),
    unsupported_language: z
      .string()
      .optional()
      .describe("Language of the text, if the model does not know it. Not in OpenAI's API."),
  })),
);

/** Result of the moderation of a chat or response. */
export const NamedModerationResult = named(
  "NamedModerationResult",
  lazy.object(() => ({ type: z.literal("moderation_result"), model: z.string(), ...ModerationResult.shape })),
);

/** In place of the result of a moderation that failed, where the policy only asks for scores. */
export const ModerationError = named(
  "ModerationError",
  lazy.object(() => ({ type: z.literal("error"), code: z.string(), message: z.string() })),
);

export const Moderation = named(
  "Moderation",
  lazy.object(() => ({ id: z.string(), model: z.string(), results: z.array(ModerationResult) })),
);

export interface ParsedModeration {
  model: string | undefined;
  inputs: readonly ModerationInput[];
  imageFault: Fault | undefined;
}

/** Returns the names of ignored fields. Throws a Fault for a misspelled one, or for any if `policy` requires it. */
export function ignoredModerationFields(body: unknown, policy: UnknownFieldsPolicy): string[] {
  return checkUnknownFields(body, { known: Object.keys(ModerationBody.shape), unsupported: {}, policy });
}

/**
 * Converts the input: strings are moderated one by one, parts together. Throws a Fault that names the invalid field.
 */
export function readModeration(body: unknown, maxInputs: number): ParsedModeration {
  refuseTooMany(body, maxInputs);
  const { model, input } = parseBody(body);
  if (typeof input === "string") return { model, inputs: [{ text: input, images: [] }], imageFault: undefined };
  const texts = input.filter((entry) => typeof entry === "string");
  if (texts.length > 0) {
    return { model, inputs: texts.map((text) => ({ text, images: [] })), imageFault: undefined };
  }
  const parts = input.filter((entry) => typeof entry !== "string");
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
  const images = parts.flatMap((part) => (part.type === "image_url" ? [part.image_url.url] : []));
  return { model, inputs: [{ text, images }], imageFault: imageFault(parts) };
}

/** Refuses too many entries before they are validated one by one. */
function refuseTooMany(body: unknown, most: number): void {
  const { input } = (body ?? {}) as { input?: unknown };
  if (!Array.isArray(input) || input.length <= most) return;
  const message = `Invalid value for 'input': it may have at most ${most} entries, not ${input.length}. Send them in parts.`;
  throw invalidRequest(message, "input", "array_above_max_length");
}

/** Fault of an invalid `input`. OpenAI's clients know it as one field, so only the message names the path within it. */
function parseBody(body: unknown): AnswerOf<typeof ModerationBody> {
  try {
    return parse(ModerationBody, body);
  } catch (fault) {
    if (!(fault instanceof Fault) || !fault.param?.startsWith("input")) throw fault;
    throw invalidRequest(fault.message, "input", fault.code);
  }
}

function imageFault(parts: ReadonlyArray<{ type: string }>): Fault | undefined {
  const index = parts.findIndex(({ type }) => type === "image_url");
  if (index === -1) return undefined;
  const message = `The part input[${index}] is an image, and this model moderates text only. Leave it out, or name a model that takes images.`;
  return unsupportedValue(message, `input[${index}]`);
}

export function toModeration(
  { id, model }: Pick<AnswerIdentity, "id" | "model">,
  verdicts: readonly ModerationVerdict[],
): AnswerOf<typeof Moderation> {
  return { id: `modr-${id}`, model, results: verdicts.map(toResult) };
}

/** `unsupported_language` is not in OpenAI's API; only results whose scores mean little have it. */
export function toResult({
  scores,
  flags,
  appliedTo,
  unsupportedLanguage,
}: ModerationVerdict): AnswerOf<typeof ModerationResult> {
  return {
    flagged: Object.values(flags).some(Boolean),
    categories: flags,
    category_scores: scores,
    category_applied_input_types: appliedTo,
    ...(unsupportedLanguage !== undefined && { unsupported_language: unsupportedLanguage }),
  };
}
