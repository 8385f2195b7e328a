import type { Token } from "node-llama-cpp";
import { RequestError } from "../errors.ts";
import type { SamplingParameters } from "../types.ts";
import { toLlamaSeed, toLlamaTopK } from "./llama-sampling.ts";
import type { SamplerOptions } from "./sampler.ts";

export interface SamplerLimits {
  vocabularySize: number;
  contextWindow: number;
  /** Tokens that are never sampled, whatever the request says. */
  bannedTokens: Iterable<Token>;
}

/** Sampler options of one choice; each has a different seed. Throws a RequestError for a bias of an unknown token. */
export function toSamplerOptions(request: SamplingParameters, choice: number, bounds: SamplerLimits): SamplerOptions {
  const { temperature, topP, topK, minP, seed } = request;
  return {
    temperature,
    topP,
    topK: toLlamaTopK(topK),
    minP: minP ?? 0,
    seed: toLlamaSeed(seed, choice),
    ...penaltyOptions(request, bounds),
    ...biasOptions(request, bounds),
  };
}

/** Penalties count the tokens of the answer, not of the prompt. */
function penaltyOptions(request: SamplingParameters, { contextWindow }: SamplerLimits): Partial<SamplerOptions> {
  const { frequencyPenalty, presencePenalty, repeatPenalty, repeatLastN } = request;
  if (frequencyPenalty === 0 && presencePenalty === 0 && repeatPenalty === 1) return {};
  return {
    repeatPenalty,
    repeatPenaltyFrequencyPenalty: frequencyPenalty,
    repeatPenaltyPresencePenalty: presencePenalty,
    repeatPenaltyMaxTokens: Math.min(repeatLastN ?? contextWindow, contextWindow),
    repeatPenaltyTokens: new Uint32Array(),
  };
}

function biasOptions(
  { logitBias }: SamplingParameters,
  { vocabularySize, bannedTokens }: SamplerLimits,
): Partial<SamplerOptions> {
  const biases = new Map<number, number>();
  for (const [id, bias] of Object.entries(logitBias)) {
    const token = Number(id);
    if (!Number.isInteger(token) || token < 0 || token >= vocabularySize) {
      throw new RequestError(
        `logit_bias names the token ${id}, but this model's tokens are numbered 0 to ${vocabularySize - 1}.`,
        "logit_bias",
        "invalid_value",
      );
    }
    biases.set(token, bias);
  }
  for (const token of bannedTokens) biases.set(token, Number.NEGATIVE_INFINITY);
  if (biases.size === 0) return {};
  return {
    tokenBiasKeys: Uint32Array.from(biases.keys()),
    tokenBiasValues: Float32Array.from(biases.values()),
  };
}
