/** Renders images: one JSON body, or a stream of events. */

import type { ImageEvent, ImageFacts, ImageRequest } from "../../../contracts/image-model.ts";
import type { TokenUsage } from "../../../kernel/usage.ts";
import type { AnswerOf } from "../../openapi/named.ts";
import type { Images as ImagesAnswer } from "./image-answers.ts";
import { toDataUrl } from "./image-data-url.ts";

type Images = Extract<ImageEvent, { type: "image" }>[];

interface AnswerParts {
  request: Pick<ImageRequest, "operation" | "size" | "format" | "options">;
  /** Seconds since the epoch. */
  created: number;
}

/** Reads all events and renders the body. */
export async function toImageBody(
  events: AsyncIterable<ImageEvent>,
  { request, created, asUrl }: AnswerParts & { asUrl: boolean },
): Promise<AnswerOf<typeof ImagesAnswer>> {
  const images: Images = [];
  let end: Extract<ImageEvent, { type: "finish" }> | undefined;
  for await (const event of events) {
    if (event.type === "image") images.push(event);
    else if (event.type === "finish") end = event;
  }
  const facts = withRequested(end?.facts, request);
  const data = images.map(({ base64, url, revisedPrompt }) => ({
    ...(base64 === undefined
      ? { url }
      : asUrl
        ? { url: toDataUrl(base64, facts.output_format) }
        : { b64_json: base64 }),
    ...(revisedPrompt !== undefined && { revised_prompt: revisedPrompt }),
  }));
  return { created, data, ...facts, ...(end?.usage !== undefined && { usage: toImageUsage(end.usage) }) };
}

/** Renders the events of a stream; the usage is that of all images, with the last of them. */
export async function* toImageEvents(
  events: AsyncIterable<ImageEvent>,
  { request, created }: AnswerParts,
): AsyncGenerator<string> {
  const name = request.operation === "generation" ? "image_generation" : "image_edit";
  let finished: { base64: string } | undefined;
  const completed = (base64: string, facts: ImageFacts | undefined, usage: TokenUsage | undefined) => {
    const common = { created_at: created, ...withAuto(withRequested(facts, request)) };
    return toFrame({ type: `${name}.completed`, b64_json: base64, ...common, usage: toImageUsage(usage) });
  };
  for await (const event of events) {
    if (event.type === "partial") {
      const common = { created_at: created, ...withAuto(withRequested(undefined, request)) };
      const partial = { b64_json: event.base64, ...common, partial_image_index: event.index };
      yield toFrame({ type: `${name}.partial_image`, ...partial });
    } else if (event.type === "image" && event.base64 !== undefined) {
      if (finished !== undefined) yield completed(finished.base64, undefined, undefined);
      finished = { base64: event.base64 };
    } else if (event.type === "finish" && finished !== undefined) {
      yield completed(finished.base64, event.facts, event.usage);
    }
  }
}

/** Fields of the answer: what the engine says, else what was requested. */
function withRequested(facts: ImageFacts | undefined, { size, format, options }: AnswerParts["request"]) {
  const requestedSize = size && `${size.width}x${size.height}`;
  const all = {
    size: facts?.size ?? requestedSize,
    quality: facts?.quality ?? options.quality,
    background: facts?.background ?? options.background,
    output_format: facts?.format ?? format,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Partial<typeof all>;
}

/** Events have all fields. */
function withAuto(facts: ReturnType<typeof withRequested>) {
  return { size: "auto", quality: "auto", background: "auto", output_format: "png", ...facts };
}

/** Tokens of the Images API; 0 from models that do not count any. */
function toImageUsage(usage: TokenUsage | undefined): AnswerOf<typeof ImagesAnswer>["usage"] {
  const { promptTokens = 0, completionTokens = 0, details } = usage ?? {};
  const imageTokens = details?.inputImageTokens ?? 0;
  return {
    input_tokens: promptTokens,
    input_tokens_details: { image_tokens: imageTokens, text_tokens: promptTokens - imageTokens },
    output_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function toFrame(event: { type: string; [field: string]: unknown }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
