/** Reads from log probabilities how sure a model was of its verdict. */

/** The token at one place of an answer, and the likeliest there. */
export interface TokenChoices {
  token: string;
  top: ReadonlyArray<{ token: string; logprob: number }>;
}

export interface VerdictWords {
  harmful: string;
  harmless: string;
  isLast?: boolean;
}

/** 0 to 1, at the token that is the verdict; undefined when there is none. */
export function harmProbability(
  tokens: readonly TokenChoices[],
  { harmful, harmless, isLast = false }: VerdictWords,
): number | undefined {
  // Words that were only likely elsewhere, as `Un` of `Unethical` is in a list of categories, say nothing of the verdict.
  const verdicts = tokens.filter(({ token }) => begins(harmful, token) || begins(harmless, token));
  const verdict = verdicts.at(isLast ? -1 : 0);
  if (verdict === undefined) return undefined;
  const massOf = (word: string) =>
    verdict.top.reduce((sum, { token, logprob }) => (begins(word, token) ? sum + Math.exp(logprob) : sum), 0);
  const masses = { harmful: massOf(harmful), harmless: massOf(harmless) };
  const both = masses.harmful + masses.harmless;
  return both > 0 ? masses.harmful / both : undefined;
}

/** A tokenizer may cut `unsafe` into `uns` and `afe`: two letters, or the whole word, tell the two apart. */
function begins(word: string, token: string): boolean {
  const bare = token.trim().toLowerCase();
  return bare !== "" && (bare === word || (bare.length >= 2 && word.startsWith(bare)));
}
