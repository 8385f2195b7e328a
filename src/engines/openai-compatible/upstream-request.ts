/** Builds the request to an upstream. */

import type { Dispatcher } from "undici";
import { byteLength, mergeSmallChunks } from "../../kernel/json/chunks.ts";
import { jsonBytes } from "../../kernel/json/json-bytes.ts";
import { replaceMembers, sourceOf } from "../../kernel/json/json-source.ts";
import { LARGE_JSON_BYTES, writeLargeJson } from "../../kernel/json/large-json.ts";
import type { UpstreamSettings } from "./connection-settings.ts";

/**
 * Returns the upstream's name for the requested model. Without `model` in the settings that is the catalog ID, less the
 * prefix of a wildcard; a `*` in `model` stands for the part that the wildcard matched.
 */
export function toUpstreamModel(setting: string | undefined, catalogId: string, model: string): string {
  const prefix = catalogId.endsWith("/*") ? catalogId.slice(0, -1) : undefined;
  const rest = prefix !== undefined && model.startsWith(prefix) ? model.slice(prefix.length) : model;
  if (setting === undefined) return rest;
  return prefix === undefined ? setting : setting.replace("*", () => rest);
}

/** Text, bytes, or parts of them that are written one after the other. */
export type UpstreamBody = string | Uint8Array | readonly Uint8Array[];

/** Size from which several writes cost less than a copy, which V8 counts as external memory and marks the heap for. */
const MIN_PARTS_BYTES = 32 * 1024;
/** Parts below it are copied together, because each is written by itself. */
const MIN_PART_BYTES = 16 * 1024;

/**
 * Builds the upstream's body, with its name for the model, members that are `changed` and, for completions, a request for usage. A body whose bytes
 * are there is not written again: 64 KB take 20 instead of 120 µs. Any other large one is written in a thread.
 */
export function toUpstreamBody(
  body: Readonly<Record<string, unknown>>,
  upstreamModel: string,
  asksForUsage = true,
  changed: Readonly<Record<string, unknown>> = {},
): UpstreamBody | Promise<UpstreamBody> {
  const options = body.stream === true && asksForUsage ? withUsage(body.stream_options) : undefined;
  const source = sourceOf(body);
  if (source !== undefined) {
    const members = Object.entries({ ...changed, model: upstreamModel, stream_options: options });
    const written = members.flatMap(([name, value]) => (value === undefined ? [] : [[name, JSON.stringify(value)]]));
    const parts = replaceMembers(source, Object.fromEntries(written));
    return byteLength(parts) < MIN_PARTS_BYTES ? Buffer.concat(parts) : mergeSmallChunks(parts, MIN_PART_BYTES);
  }
  const sent = {
    ...body,
    ...changed,
    model: upstreamModel,
    ...(options === undefined ? {} : { stream_options: options }),
  };
  return jsonBytes(sent) < LARGE_JSON_BYTES ? JSON.stringify(sent) : writeLargeJson(sent);
}

function withUsage(options: unknown): Record<string, unknown> {
  return { ...(options as object | null | undefined), include_usage: true };
}

/** Builds a request without its body and the caller's headers. `path` follows the base URL. */
export function requestTemplate(settings: UpstreamSettings, path: string): Omit<Dispatcher.DispatchOptions, "body"> {
  const url = new URL(settings.baseUrl);
  const headers: Record<string, string> = { "content-type": "application/json", "accept-encoding": "identity" };
  if (settings.apiKey !== undefined) headers.authorization = `Bearer ${settings.apiKey.reveal()}`;
  for (const [name, value] of Object.entries(settings.headers)) headers[name.toLowerCase()] = value.reveal();
  return {
    origin: url.origin,
    method: "POST",
    path: `${url.pathname.replace(/\/$/, "")}/${path}${path.includes("?") ? url.search.replace("?", "&") : url.search}`,
    headers,
    // Time-outs other than the connection's are the exchange's own.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}
