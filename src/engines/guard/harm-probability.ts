/** Computes the probability of a verdict from log probabilities. */

/** A token of an answer and its most likely alternatives. */
export interface TokenChoices {
  token: string;
  top: ReadonlyArray<{ token: string; logprob: number }>;
}

export interface VerdictWords {
  harmful: string;
  harmless: string;
  isLast?: boolean;
}

/** Returns the probability of harm, 0 to 1, at the verdict's token; undefined without one. */
export function harmProbability(
  tokens: readonly TokenChoices[],
  { harmful, harmless, isLast = false }: VerdictWords,
): number | undefined {
  // Alternatives elsewhere, such as `Un` of `Unethical` in a list of categories, do not describe the verdict.
  const verdicts = tokens.filter(({ token }) => begins(harmful, token) || begins(harmless, token));
  const verdict = verdicts.at(isLast ? -1 : 0);
  if (verdict === undefined) return undefined;
  const massOf = (word: string) =>
    verdict.top.reduce((sum, { token, logprob }) => (begins(word, token) ? sum + Math.exp(logprob) : sum), 0);
  const masses = { harmful: massOf(harmful), harmless: massOf(harmless) };
  const both = masses.harmful + masses.harmless;
  return both > 0 ? masses.harmful / both : undefined;
}

/** A tokenizer may split `unsafe` into `uns` and `afe`: two letters suffice to distinguish the two words. */
function begins(word: string, token: string): boolean {
  const bare = token.trim().toLowerCase();
  return bare !== "" && (bare === word || (bare.length >= 2 && word.startsWith(bare)));
}
