/** Images, complete and as events. What an upstream answers may have further fields. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { named } from "../../openapi/named.ts";
import { ErrorAnswer } from "../../openapi/service-answers.ts";
import { openAnswers } from "../open-variants.ts";

const count = z.int().min(0);

const ImageUsage = named(
  "ImageUsage",
  lazy.looseObject(() => ({
    input_tokens: count,
    input_tokens_details: z.looseObject({ image_tokens: count, text_tokens: count }).optional(),
    output_tokens: count,
    total_tokens: count,
  })),
);

const facts = {
  size: z.string().optional(),
  quality: z.string().optional(),
  background: z.string().optional(),
  output_format: z.string().optional(),
};

export const Images = named(
  "Images",
  lazy.looseObject(() => ({
    created: z.int(),
    data: z.array(
      z.object({
        b64_json: z.string().optional(),
        url: z.string().optional(),
        revised_prompt: z.string().optional(),
      }),
    ),
    ...facts,
    usage: ImageUsage.optional(),
  })),
);

function partial<Type extends string>(type: Type) {
  return lazy.looseObject(() => ({
    type: z.literal(type),
    b64_json: z.string(),
    created_at: z.int(),
    ...facts,
    partial_image_index: count,
  }));
}

function completed<Type extends string>(type: Type) {
  return lazy.looseObject(() => ({
    type: z.literal(type),
    b64_json: z.string(),
    created_at: z.int(),
    ...facts,
    usage: ImageUsage.optional(),
  }));
}

function eventsOf<Operation extends "generation" | "edit">(operation: Operation) {
  const name = `image_${operation}` as const;
  const types = [`${name}.partial_image`, `${name}.completed`] as const;
  const variants = { [types[0]]: partial(types[0]), [types[1]]: completed(types[1]) };
  return z.union([openAnswers(variants), ErrorAnswer]).describe("An error ends the stream.");
}

export const ImageGenerationEvent = named("ImageGenerationEvent", eventsOf("generation"));
export const ImageEditEvent = named("ImageEditEvent", eventsOf("edit"));
