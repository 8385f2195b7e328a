/** Reads from OpenAI's `logprobs` how sure a model was of its verdict. */

interface TokenChoice {
  token: string;
  top_logprobs: ReadonlyArray<{ token: string; logprob: number }>;
}

/** 0 to 1, at the last token that could have been either word; undefined when there is none, or no probabilities at all. */
export function harmProbability(logprobs: unknown, words: { harmful: string; harmless: string }): number | undefined {
  const content = (logprobs as { content?: unknown } | null | undefined)?.content;
  if (!Array.isArray(content)) return undefined;
  for (const { top_logprobs: choices } of (content as TokenChoice[]).toReversed()) {
    if (!Array.isArray(choices)) return undefined;
    const mass = (word: string) =>
      choices.reduce((sum, { token, logprob }) => (begins(word, token) ? sum + Math.exp(logprob) : sum), 0);
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
