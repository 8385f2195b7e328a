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

/** Service tiers with the speed and the price of every request. */
const STANDARD_TIERS: readonly string[] = ["auto", "default", "standard"];

/** Returns the names of fields of a request that only upstreams read, for a local model that answers it. */
export function fieldsOfUpstreams(body: Fields): string[] {
  const { service_tier: tier, stream_options: options } = body;
  return [
    ...["prediction", "prompt_cache_options", "prompt_cache_retention"].filter((name) => body[name] != null),
    ...(typeof tier === "string" && !STANDARD_TIERS.includes(tier) ? ["service_tier"] : []),
    ...(isObject(options) && options.include_obfuscation === true ? ["stream_options.include_obfuscation"] : []),
  ];
}
