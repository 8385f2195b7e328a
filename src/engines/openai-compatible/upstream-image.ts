/** An image model behind any API of OpenAI's kind: JSON for prompts, a form for edits, a stream where it is asked for. */

import type { FormData } from "undici";
import { z } from "zod";
import type { ImageAbilities, ImageEvent, ImageModel, ImageRequest } from "../../contracts/image-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parseImageUsage } from "../../wire/usage/image-usage.ts";
import type { Exchange, ResponseHead } from "./connection/exchange.ts";
import { parseOrUndefined, readText } from "./connection/read-body.ts";
import { imageFactsOf, readImageStream } from "./image-stream.ts";
import { readErrorResponse } from "./read-error-response.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel } from "./upstream-model.ts";

const Images = lazy.object(() => ({
  data: z.array(
    z.object({ b64_json: z.string().nullish(), url: z.string().nullish(), revised_prompt: z.string().nullish() }),
  ),
  usage: z.unknown().optional(),
}));

const OPERATIONS = { generation: "images/generations", edit: "images/edits", variation: "images/variations" } as const;
/** These answer with content in any case, and refuse the field. */
const WITHOUT_RESPONSE_FORMAT = /^(chatgpt|gpt)-image/;

export class UpstreamImage extends UpstreamModel implements ImageModel {
  readonly task = "image";
  /** The upstream refuses what it does not support. */
  readonly abilities: ImageAbilities = {
    edits: undefined,
    variations: undefined,
    partialImages: undefined,
    transparency: undefined,
  };

  async *generate(request: ImageRequest, signal: AbortSignal): AsyncGenerator<ImageEvent> {
    const operation = OPERATIONS[request.operation];
    const context = this.contextOf(request.model, operation);
    const fields = this.fieldsOf(request, context.upstreamModel);
    const isForm = request.operation !== "generation";
    const body = isForm ? await toForm(fields, request) : JSON.stringify(fields);
    const accept = request.stream ? "text/event-stream, application/json" : "application/json";
    // The form's own Content-Type, with its boundary, is set where it is sent.
    const form = isForm ? { "content-type": undefined } : {};
    const credentials = await this.credentials(operation, typeof body === "string" ? body : "", signal);
    const headers = { accept, ...form, ...credentials };
    const exchange = this.send(operation, { body, headers, callerHeaders: request.callerHeaders }, signal);
    let isComplete = false;
    try {
      const head = await exchange.head();
      if (head === undefined) return;
      const isStream = /^text\/event-stream\b/i.test(String(head.headers["content-type"]));
      if (head.status === 200 && isStream) yield* readImageStream(exchange);
      else yield* toEvents(await readComplete(exchange, head, context));
      isComplete = true;
    } catch (error) {
      if (!signal.aborted) throw this.toFault(error, context);
    } finally {
      exchange.release(isComplete);
    }
  }

  /** Fields of the body; those of a form become texts. */
  protected fieldsOf(request: ImageRequest, model: string): Record<string, unknown> {
    const { prompt, count, size, format, compression, options, stream, partialImages } = request;
    return {
      model,
      ...(prompt !== "" && { prompt }),
      n: count,
      ...(size !== undefined && { size: `${size.width}x${size.height}` }),
      ...(format !== undefined && { output_format: format }),
      ...(compression !== undefined && { output_compression: compression }),
      ...options,
      ...(stream && { stream: true, partial_images: partialImages }),
      ...(!WITHOUT_RESPONSE_FORMAT.test(model) && { response_format: "b64_json" }),
    };
  }
}

async function toForm(fields: Record<string, unknown>, { images, mask }: ImageRequest): Promise<FormData> {
  const undici = await import("undici");
  const form = new undici.FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
  // A single image has the name that older servers know.
  const name = images.length === 1 ? "image" : "image[]";
  for (const image of images) form.append(name, await image.open(), image.name);
  if (mask !== undefined) form.append("mask", await mask.open(), mask.name);
  return form;
}

async function readComplete(exchange: Exchange, head: ResponseHead, context: FaultContext): Promise<unknown> {
  if (head.status !== 200) throw await readErrorResponse(head, exchange, context);
  return parseOrUndefined(await readText(exchange));
}

function* toEvents(answer: unknown): Generator<ImageEvent> {
  const error = parseUpstreamError(answer);
  if (error !== undefined) throw error;
  const images = Images.safeParse(answer);
  if (!images.success || images.data.data.length === 0) {
    throw new UpstreamError("answered with something other than images");
  }
  for (const { b64_json: content, url, revised_prompt: prompt } of images.data.data) {
    if (!content && !url) throw new UpstreamError("answered with an image without content");
    const base64 = content ?? contentOfDataUrl(url ?? "");
    const place = base64 === undefined ? { url: url ?? undefined } : { base64 };
    yield { type: "image", ...place, revisedPrompt: prompt ?? undefined };
  }
  yield { type: "finish", usage: parseImageUsage(images.data.usage), facts: imageFactsOf(answer) };
}

function contentOfDataUrl(url: string): string | undefined {
  return /^data:[^,]{0,100};base64,(.+)$/s.exec(url)?.[1];
}
