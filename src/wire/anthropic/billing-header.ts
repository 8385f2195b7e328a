/**
 * The first block of Claude Code's system prompt, which attributes a request for billing. It differs in each
 * conversation, in older versions in each turn, and so prevents that other models read the prompt from their cache.
 */
const BILLING_HEADER = "x-anthropic-billing-header:";

/** Returns the system prompt without the block; the same value where there is none. */
export function withoutBillingHeader<System>(system: System): System {
  if (!Array.isArray(system)) return system;
  const text: unknown = system[0]?.text;
  return typeof text === "string" && text.startsWith(BILLING_HEADER) ? (system.slice(1) as System) : system;
}
