/** Adapts the generation of images to the life of a request. */

import type { ImageEvent, ImageModel, ImageRequest } from "../../contracts/image-model.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { addTokens } from "../../kernel/usage.ts";
import { NO_UPPER_BOUND, type TaskAdapter } from "./task-adapter.ts";

const FEATURES = { generation: "images/generations", edit: "images/edits", variation: "images/variations" } as const;

/** Adapts images; their usage counts finished ones, and tokens where the provider reports them. */
export function imageAdapter(request: Omit<ImageRequest, "model">): TaskAdapter<ImageModel, ImageEvent> {
  let finished = 0;
  const imageKind = { source: `image.${request.operation}`, size: sizeName(request.size) };
  return {
    task: "image",
    upperBound: () => ({ ...NO_UPPER_BOUND, images: request.count }),
    callerHeaders: request.callerHeaders,
    affinity: () => undefined,
    refusal: (model, id) => refuseImages(request, model) ?? model.missing?.(FEATURES[request.operation], id),
    begin: (model, id, signal) => model.generate({ ...request, model: id }, signal),
    drainsToBuffer: () => true,
    count: (event, used) => {
      if (event.type === "finish" && event.usage !== undefined) Object.assign(used, addTokens(used, event.usage));
      if (event.type === "image") finished += 1;
      used.details = { ...used.details, images: finished, imageKind };
      return event.type !== "finish";
    },
    // The provider charges for what it has begun.
    countAbandoned: (used) => {
      used.details = { ...used.details, images: request.count, imageKind };
    },
    isEnd: (event) => event.type === "finish",
  };
}

/** Sizes of OpenAI's models; usage sums others together, because callers may choose any. */
const SIZES: ReadonlySet<string> = new Set([
  ...["256x256", "512x512", "1024x1024", "1792x1024", "1024x1792", "1792x1792", "1536x1024", "1024x1536"],
]);

function sizeName(size: ImageRequest["size"]): string | null {
  if (size === undefined) return null;
  const name = `${size.width}x${size.height}`;
  return SIZES.has(name) ? name : "other";
}

function refuseImages(request: Omit<ImageRequest, "model">, { abilities }: ImageModel): Fault | undefined {
  const { operation, partialImages, options } = request;
  if (operation === "edit" && abilities.edits === false) {
    return unsupportedValue("This model does not edit images; it generates them from a prompt only.", "model");
  }
  if (operation === "variation" && abilities.variations === false) {
    const message = "This model has no variations. Use /v1/images/edits with a prompt.";
    return unsupportedValue(message, "model");
  }
  if (partialImages > 0 && abilities.partialImages === false) {
    return unsupportedValue("This model sends finished images only. Leave `partial_images` out.", "partial_images");
  }
  if (options.background === "transparent" && abilities.transparency === false) {
    return unsupportedValue("This model has no transparent backgrounds. Leave `background` out.", "background");
  }
  return undefined;
}
