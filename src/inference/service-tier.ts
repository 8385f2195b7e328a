/** The service tier of an upstream that a chat asks for, within what its project may use. */

import type { Caller } from "../contracts/caller.ts";
import type { ChatCall } from "../contracts/chat-call.ts";
import { Fault } from "../kernel/faults.ts";

export interface ServiceTierPolicy {
  /** For chats that name none. `standard`: they stay as they are. */
  default: "standard" | "fast" | "scale";
  enabled: "all" | readonly string[];
}

export interface ServiceTierOptions {
  /** Undefined: a caller may use every tier. */
  serviceTiersOf?: ((caller: Caller) => ServiceTierPolicy | undefined) | undefined;
}

/** Names of the standard tier, and those that leave the choice to the service, in the formats of OpenAI, Anthropic and Google. */
const STANDARD: ReadonlySet<string> = new Set(["default", "standard", "standard_only"]);
const AUTOMATIC: ReadonlySet<string | undefined> = new Set([undefined, "auto"]);

/** Returns the chat with the tier that its project gives it. Throws a Fault for one that the project may not use. */
export function withServiceTier(call: ChatCall, policy: ServiceTierPolicy | undefined): ChatCall {
  if (policy === undefined) return call;
  const speed = speedOf(call);
  if (speed !== undefined && !isEnabled(speed, policy)) throw notEnabled(speed, policy, "speed");
  const tier = tierOf(call);
  if (!AUTOMATIC.has(tier)) {
    if (!isEnabled(tier as string, policy)) throw notEnabled(tier as string, policy);
    return call;
  }
  return policy.default === "standard" ? call : withTier(call, toSent(policy.default));
}

function tierOf({ request, passThrough }: ChatCall): string | undefined {
  const sent = passThrough?.body.service_tier;
  return typeof sent === "string" ? sent : request.upstreamFields?.serviceTier;
}

/** Anthropic's `fast`, which costs more at any tier. */
function speedOf({ passThrough }: ChatCall): string | undefined {
  const speed = passThrough?.body.speed;
  return typeof speed === "string" ? speed : undefined;
}

function isEnabled(tier: string, { enabled, default: standard }: ServiceTierPolicy): boolean {
  if (enabled === "all" || STANDARD.has(tier)) return true;
  const name = tier === "priority" ? "fast" : tier;
  return name === standard || enabled.includes(name);
}

/** Upstreams that know `fast` by its former name only know `priority`, and others know both. */
function toSent(tier: "fast" | "scale"): string {
  return tier === "fast" ? "priority" : tier;
}

function withTier(call: ChatCall, tier: string): ChatCall {
  const { request, passThrough, withDefaults } = call;
  // Anthropic's tiers are others, of which `auto` takes the best.
  const isForwarded = passThrough !== undefined && passThrough.native?.operation !== "messages";
  return {
    ...call,
    request: { ...request, upstreamFields: { ...request.upstreamFields, serviceTier: tier } },
    ...(isForwarded && { passThrough: { ...passThrough, body: { ...passThrough.body, service_tier: tier } } }),
    ...(withDefaults && { withDefaults: (defaults) => withTier(withDefaults(defaults), tier) }),
  };
}

function notEnabled(tier: string, { enabled }: ServiceTierPolicy, param = "service_tier"): Fault {
  const others = enabled === "all" ? [] : enabled;
  const message = `The service tier '${tier.slice(0, 50)}' is not enabled in this project, which may use: ${["default", ...others].join(", ")}. An administrator can enable it in the project's service_tier_settings.`;
  return new Fault("forbidden", message, { param, code: "service_tier_not_enabled" });
}
