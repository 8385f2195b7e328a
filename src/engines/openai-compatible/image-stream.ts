/** Events of streamed images, of generations and of edits. */

import { z } from "zod";
import type { ImageEvent, ImageFacts } from "../../contracts/image-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import { addTokens, type TokenUsage } from "../../kernel/usage.ts";
import { parseImageUsage } from "../../wire/usage/image-usage.ts";
import type { Exchange } from "./connection/exchange.ts";
import { eventData, parseOrUndefined } from "./connection/read-body.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";

const Partial = lazy.object(() => ({
  type: z.enum(["image_generation.partial_image", "image_edit.partial_image"]),
  b64_json: z.string(),
  partial_image_index: z.int().min(0).catch(0),
}));
const Completed = lazy.object(() => ({
  type: z.enum(["image_generation.completed", "image_edit.completed"]),
  b64_json: z.string(),
  usage: z.unknown().optional(),
}));

/** An image of 4096 × 4096 pixels as Base64. */
const MAX_EVENT_LENGTH = 96 * 1024 ** 2;

/** Throws an UpstreamError when the stream ends before an image is complete. */
export async function* readImageStream(exchange: Exchange): AsyncGenerator<ImageEvent> {
  let usage: TokenUsage | undefined;
  let last: unknown;
  for await (const data of eventData(exchange, MAX_EVENT_LENGTH, "chunk")) {
    if (data.trim() === "[DONE]") continue;
    const event = parseOrUndefined(data);
    const error = parseUpstreamError(event);
    if (error !== undefined) throw error;
    const partial = Partial.safeParse(event).data;
    if (partial !== undefined) yield { type: "partial", index: partial.partial_image_index, base64: partial.b64_json };
    const completed = Completed.safeParse(event).data;
    if (completed === undefined) continue;
    const spent = parseImageUsage(completed.usage);
    if (spent !== undefined) usage = usage === undefined ? spent : addTokens(usage, spent);
    last = event;
    yield { type: "image", base64: completed.b64_json };
  }
  if (last === undefined) throw new UpstreamError("ended its answer before it was complete");
  yield { type: "finish", usage, facts: imageFactsOf(last) };
}

/** Reads what an answer, or the last event of a stream, says of its images. */
export function imageFactsOf(answer: unknown): ImageFacts {
  const { size, quality, background, output_format: format } = answer as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" && value.length <= 100 ? value : undefined);
  return { size: text(size), quality: text(quality), background: text(background), format: text(format) };
}
