/** `cache_control`: Anthropic's marks up to which a prompt is cached, also in chat completions as gateways take them. */

import type { CacheMark } from "../contracts/chat-message.ts";

/** Returns the mark, as a field of what has it; {} without one. */
export function cacheMarkOf({ cache_control: control }: Readonly<Record<string, unknown>>): { cache?: CacheMark } {
  if (typeof control !== "object" || control === null) return {};
  const { type, ttl } = control as { type?: unknown; ttl?: unknown };
  if (type !== "ephemeral") return {};
  return { cache: { ttl: ttl === "5m" || ttl === "1h" ? ttl : undefined } };
}
