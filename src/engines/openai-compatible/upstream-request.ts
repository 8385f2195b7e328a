/** Builds the request to an upstream. */

import type { Dispatcher } from "undici";
import { jsonBytes } from "../../kernel/json/json-bytes.ts";
import { LARGE_JSON_BYTES, writeLargeJson } from "../../kernel/json/large-json.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";

/**
 * Returns the upstream's name for the requested model. Without `model` in the settings that is the catalog ID, less the
 * prefix of a wildcard; a `*` in `model` stands for the part that the wildcard matched.
 */
export function toUpstreamModel(setting: string | undefined, catalogId: string, asked: string): string {
  const prefix = catalogId.endsWith("/*") ? catalogId.slice(0, -1) : undefined;
  const rest = prefix !== undefined && asked.startsWith(prefix) ? asked.slice(prefix.length) : asked;
  if (setting === undefined) return rest;
  return prefix === undefined ? setting : setting.replace("*", () => rest);
}

/**
 * Builds the upstream's body, with its name for the model and, for completions, a request for usage. Writes a large
 * one in a thread.
 */
export function toUpstreamBody(
  body: Readonly<Record<string, unknown>>,
  upstreamModel: string,
  asksForUsage = true,
): string | Promise<Uint8Array> {
  const sent: Record<string, unknown> = { ...body, model: upstreamModel };
  if (body.stream === true && asksForUsage)
    sent.stream_options = { ...(body.stream_options as object | null), include_usage: true };
  return jsonBytes(sent) < LARGE_JSON_BYTES ? JSON.stringify(sent) : writeLargeJson(sent);
}

export type Operation =
  | "chat/completions"
  | "completions"
  | "responses"
  | "messages"
  | "embeddings"
  | "rerank"
  | "moderations"
  | "audio/speech"
  | "audio/transcriptions"
  | "audio/translations";

/** Builds a request without its body and the caller's headers. `path` follows the base URL. */
export function requestTemplate(
  settings: OpenAiCompatibleSettings,
  path: Operation | "models",
): Omit<Dispatcher.DispatchOptions, "body"> {
  const url = new URL(settings.baseUrl);
  const headers: Record<string, string> = { "content-type": "application/json", "accept-encoding": "identity" };
  if (settings.apiKey !== undefined) headers.authorization = `Bearer ${settings.apiKey.reveal()}`;
  for (const [name, value] of Object.entries(settings.headers)) headers[name.toLowerCase()] = value.reveal();
  return {
    origin: url.origin,
    method: "POST",
    path: `${url.pathname.replace(/\/$/, "")}/${path}${url.search}`,
    headers,
    // Time-outs other than the connection's are the exchange's own.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}
