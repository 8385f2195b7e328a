/** Builds the request to an upstream. */

import type { Dispatcher } from "undici";
import type { OpenAiCompatibleSettings } from "./settings.ts";

/**
 * The upstream's own name for the model asked for. Without `model` in the settings that is the catalog id, less the
 * prefix of a wildcard; a `*` in `model` stands for what the wildcard left open.
 */
export function toUpstreamModel(setting: string | undefined, catalogId: string, asked: string): string {
  const prefix = catalogId.endsWith("/*") ? catalogId.slice(0, -1) : undefined;
  const rest = prefix !== undefined && asked.startsWith(prefix) ? asked.slice(prefix.length) : asked;
  if (setting === undefined) return rest;
  return prefix === undefined ? setting : setting.replace("*", () => rest);
}

/** The body as the upstream gets it: under its own name for the model, and with usage, which is always asked for. */
export function toUpstreamBody(body: Readonly<Record<string, unknown>>, upstreamModel: string): string {
  const sent: Record<string, unknown> = { ...body, model: upstreamModel };
  if (body.stream === true) sent.stream_options = { ...(body.stream_options as object | null), include_usage: true };
  return JSON.stringify(sent);
}

export type Operation =
  | "chat/completions"
  | "embeddings"
  | "moderations"
  | "audio/speech"
  | "audio/transcriptions"
  | "audio/translations";

/** All of a request but its body and the headers of its caller. `path` is what follows the base URL. */
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
