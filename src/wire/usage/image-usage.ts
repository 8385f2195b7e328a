import type { TokenUsage } from "../../kernel/usage.ts";
import { detailsOf, fieldsOf, toCount } from "./usage-fields.ts";

/** Parses `usage` of an answer of the Images API; undefined when the provider does not count tokens. */
export function parseImageUsage(value: unknown): TokenUsage | undefined {
  const usage = fieldsOf(value);
  const promptTokens = toCount(usage.input_tokens);
  const completionTokens = toCount(usage.output_tokens);
  if (promptTokens === undefined || completionTokens === undefined) return undefined;
  const input = fieldsOf(usage.input_tokens_details);
  const output = fieldsOf(usage.output_tokens_details);
  const details = detailsOf({
    inputImageTokens: Math.min(toCount(input.image_tokens) ?? 0, promptTokens),
    // Without details, an answer consists of images alone.
    outputImageTokens: Math.min(toCount(output.image_tokens) ?? completionTokens, completionTokens),
  });
  const cachedTokens = Math.min(toCount(input.cached_tokens) ?? 0, promptTokens);
  return {
    ...{ promptTokens, completionTokens, cachedTokens, reasoningTokens: 0, estimated: false },
    ...(details !== undefined && { details }),
  };
}
