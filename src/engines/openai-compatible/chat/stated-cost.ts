import type { TokenUsage } from "../../../kernel/usage.ts";
import { toNanoDollars } from "../../../wire/usage/usage-fields.ts";
import type { ResponseHead } from "../connection/exchange.ts";

/** Header in which LiteLLM states the cost of a request, in US dollars. It sends streams before it knows the cost. */
const COST_HEADER = "x-litellm-response-cost";

/** Adds the cost that the answer's headers state, unless the usage itself does. */
export function withStatedCost(usage: TokenUsage, { headers }: ResponseHead): TokenUsage {
  const header = headers[COST_HEADER];
  if (header === undefined || usage.details?.reportedCostNanoDollars !== undefined) return usage;
  const cost = toNanoDollars(header);
  // 0 also stands for a cost that is not known yet.
  return cost ? { ...usage, details: { ...usage.details, reportedCostNanoDollars: cost } } : usage;
}
