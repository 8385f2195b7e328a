import { type Beam, type ContinuedBeam, likeliest } from "./beam-search.ts";
import { applyTimestampRules, type Prediction, type Rules, sampleToken } from "./token-sampling.ts";
import type { DecoderState } from "./whisper-network.ts";

/**
 * Samples `bestOf` transcripts in parallel and returns the one with the highest mean log probability, as OpenAI's
 * implementation does. `first` predicts their first token. Undefined once the signal aborts.
 */
export async function sampleTranscript(
  state: Pick<DecoderState, "extend">,
  tokenizer: Rules,
  first: Prediction,
  {
    temperature,
    bestOf,
    random,
    maxTokens,
  }: { temperature: number; bestOf: number; random: () => number; maxTokens: number },
  signal: AbortSignal,
): Promise<Beam | undefined> {
  const complete: Beam[] = [];
  let beams: readonly Beam[] = Array.from({ length: bestOf }, () => ({ tokens: [], logProbability: 0 }));
  let next: readonly Prediction[] = beams.map(() => first);
  for (let length = 0; length < maxTokens && beams.length > 0; length += 1) {
    if (signal.aborted) return undefined;
    const continued: ContinuedBeam[] = [];
    for (const [parent, { tokens, logProbability }] of beams.entries()) {
      const allowed = applyTimestampRules(next[parent] ?? first, tokens, tokenizer);
      const sampled = sampleToken(allowed, temperature, random(), tokenizer.endOfText);
      const sum = logProbability + sampled.logProbability;
      if (sampled.token === tokenizer.endOfText) {
        complete.push({ tokens, logProbability: sum });
        continue;
      }
      continued.push({ tokens: [...tokens, sampled.token], logProbability: sum, parent: length === 0 ? 0 : parent });
    }
    beams = continued;
    if (continued.length === 0) break;
    next = await state.extend(
      continued.map(({ tokens }) => tokens.at(-1) ?? tokenizer.endOfText),
      continued.map(({ parent }) => parent),
      { candidates: 1, allText: true },
    );
  }
  return likeliest([...complete, ...beams]);
}
