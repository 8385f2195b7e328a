/** Reads from log probabilities how sure a model was of its verdict. */

/** The likeliest tokens at one place of an answer. */
export interface TokenChoices {
  top: ReadonlyArray<{ token: string; logprob: number }>;
}

/** From OpenAI's `logprobs`; none where there are none. */
export function tokensOf(logprobs: unknown): readonly TokenChoices[] {
  const content = (logprobs as { content?: unknown } | null | undefined)?.content;
  if (!Array.isArray(content)) return [];
  return (content as Array<{ top_logprobs?: TokenChoices["top"] }>).map(({ top_logprobs: top }) => ({
    top: Array.isArray(top) ? top : [],
  }));
}

/** 0 to 1, at the last token that could have been either word; undefined when there is none. */
export function harmProbability(
  tokens: readonly TokenChoices[],
  words: { harmful: string; harmless: string },
): number | undefined {
  for (const { top } of tokens.toReversed()) {
    const mass = (word: string) =>
      top.reduce((sum, { token, logprob }) => (begins(word, token) ? sum + Math.exp(logprob) : sum), 0);
    const [harmful, harmless] = [mass(words.harmful), mass(words.harmless)];
    if (harmful > 0 && harmless > 0) return harmful / (harmful + harmless);
  }
  return undefined;
}

/** A tokenizer may cut `unsafe` into `uns` and `afe`: two letters, or the whole word, tell the two apart. */
function begins(word: string, token: string): boolean {
  const bare = token.trim().toLowerCase();
  return bare !== "" && (bare === word || (bare.length >= 2 && word.startsWith(bare)));
}
