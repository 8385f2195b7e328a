import type { Token } from "node-llama-cpp";
import { invalidRequest } from "../../faults.ts";
import type { Sampling } from "../chat-model.ts";
import { toLlamaSeed, toLlamaTopK } from "../llama-draw.ts";
import type { SamplerConfig } from "./unpublished.ts";

export interface SamplingBounds {
  vocabularySize: number;
  contextWindow: number;
  /** Tokens that must not be drawn, whatever the caller says. */
  banned: Iterable<Token>;
}

/** How one choice is drawn; each has a seed of its own. Throws a Fault when a bias is about no token of the model. */
export function samplingOf(request: Sampling, choice: number, bounds: SamplingBounds): SamplerConfig {
  const { temperature, topP, topK, minP, seed } = request;
  return {
    temperature,
    topP,
    topK: toLlamaTopK(topK),
    minP: minP ?? 0,
    seed: toLlamaSeed(seed, choice),
    ...penaltiesOf(request, bounds),
    ...biasesOf(request, bounds),
  };
}

/** Of what the answer says, not of the prompt. */
function penaltiesOf(request: Sampling, { contextWindow }: SamplingBounds): Partial<SamplerConfig> {
  const { frequencyPenalty, presencePenalty, repeatPenalty } = request;
  if (frequencyPenalty === 0 && presencePenalty === 0 && repeatPenalty === 1) return {};
  return {
    repeatPenalty,
    repeatPenaltyFrequencyPenalty: frequencyPenalty,
    repeatPenaltyPresencePenalty: presencePenalty,
    repeatPenaltyMaxTokens: contextWindow,
    repeatPenaltyTokens: new Uint32Array(),
  };
}

function biasesOf({ logitBias }: Sampling, { vocabularySize, banned }: SamplingBounds): Partial<SamplerConfig> {
  const biases = new Map<number, number>();
  for (const [id, bias] of Object.entries(logitBias)) {
    const token = Number(id);
    if (!Number.isInteger(token) || token < 0 || token >= vocabularySize) {
      throw invalidRequest(
        `logit_bias names the token ${id}, but this model's tokens are numbered 0 to ${vocabularySize - 1}.`,
        "logit_bias",
        "invalid_value",
      );
    }
    biases.set(token, bias);
  }
  for (const token of banned) biases.set(token, Number.NEGATIVE_INFINITY);
  if (biases.size === 0) return {};
  return {
    tokenBiasKeys: Uint32Array.from(biases.keys()),
    tokenBiasValues: Float32Array.from(biases.values()),
  };
}
