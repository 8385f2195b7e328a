/** Fields of OpenAI's APIs that no model here reads, and that upstreams get. */

import type { UpstreamFields } from "../contracts/chat-model.ts";

type Fields = Readonly<Record<string, unknown>>;

export function toUpstreamFields(body: Fields): { upstreamFields?: UpstreamFields } {
  const upstreamFields: UpstreamFields = {
    ...text(body.user, "user"),
    ...text(body.safety_identifier, "safetyIdentifier"),
    ...text(body.prompt_cache_retention, "promptCacheRetention"),
    ...text(body.service_tier, "serviceTier"),
    ...(isObject(body.prompt_cache_options) && { promptCacheOptions: body.prompt_cache_options }),
  };
  return Object.keys(upstreamFields).length === 0 ? {} : { upstreamFields };
}

function text<Name extends string>(value: unknown, name: Name): { [Key in Name]?: string } {
  return typeof value === "string" ? ({ [name]: value } as { [Key in Name]: string }) : {};
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
