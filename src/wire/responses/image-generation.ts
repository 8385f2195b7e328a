/** The tool `image_generation` of a Responses request, and its items. */

import { z } from "zod";
import { IMAGE_FORMATS, type ImageFacts } from "../../contracts/image-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import { base64Of } from "../openai/images/image-data-url.ts";
import { optional } from "../openai/optional.ts";
import type { ServiceItem } from "./item-events.ts";
import type { InputItem } from "./responses-input.ts";

const word = z.string().regex(/^[a-z0-9_-]{1,40}$/i);

export const ImageGenerationTool = lazy.strictObject(() => ({
  type: z.literal("image_generation"),
  /** Left out: the first image model. */
  model: optional(z.string().min(1)),
  action: optional(z.enum(["generate", "edit", "auto"])).transform((action) => action ?? "auto"),
  background: optional(word),
  input_fidelity: optional(word),
  input_image_mask: optional(z.strictObject({ image_url: z.string() })),
  moderation: optional(word),
  output_compression: optional(z.int().min(0).max(100)),
  output_format: optional(z.enum(IMAGE_FORMATS)),
  partial_images: optional(z.int().min(0).max(3)),
  quality: optional(word),
  size: optional(z.string()),
}));

/** `mayEdit`: the conversation has an image, and the tool does not prescribe what to do. */
export function imageParameters(mayEdit: boolean) {
  const prompt = { type: "string", description: "Detailed description of the image, or of the change to make." };
  const edit = { type: "boolean", description: "true changes the latest image of the conversation." };
  return {
    type: "object",
    properties: { prompt, ...(mayEdit && { edit }) },
    required: mayEdit ? ["prompt", "edit"] : ["prompt"],
    additionalProperties: false,
  };
}

export interface ImageItemParts {
  status: string;
  action: "generate" | "edit";
  prompt: string;
  /** Base64; null before the image is complete. */
  result: string | null;
  facts: ImageFacts;
}

export function toImageItem(id: string, { status, action, prompt, result, facts }: ImageItemParts): ServiceItem {
  const { size, quality, background, format } = facts;
  return {
    ...{ id, type: "image_generation_call", status, action, result, revised_prompt: prompt },
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    ...(background !== undefined && { background }),
    ...(format !== undefined && { output_format: format }),
  };
}

/** Returns the Base64 of the latest image that the user sent or an earlier call made; undefined without one. */
export function latestImage(items: readonly InputItem[]): string | undefined {
  for (const item of items.toReversed()) {
    const { type, result, content } = item as Record<string, unknown>;
    if (type === "image_generation_call" && typeof result === "string") return result;
    const parts = Array.isArray(content) ? (content as Record<string, unknown>[]) : [];
    const image = parts.findLast((part) => part.type === "input_image" && isDataUrl(part.image_url));
    if (image !== undefined) return base64Of(String(image.image_url));
  }
  return undefined;
}

function isDataUrl(value: unknown): boolean {
  return typeof value === "string" && base64Of(value) !== undefined;
}
