export interface DetectedLanguage {
  /** ISO 639 code. */
  language: string;
  /** 0 to 1; those of all languages that were compared sum to 1. */
  probability: number;
}

/** The likeliest first; `logits` are in the order of `languages`. */
export function rankLanguages(languages: readonly string[], logits: ArrayLike<number>): DetectedLanguage[] {
  const values = Array.from(logits);
  const max = values.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  const weights = values.map((logit) => Math.exp(logit - max));
  const total = weights.reduce((a, b) => a + b, 0);
  return languages
    .map((language, index) => ({ language, probability: (weights[index] ?? 0) / total }))
    .sort((a, b) => b.probability - a.probability);
}
