/** Converts sentences of one language to phonemes. */
export interface Phonemizer {
  /** Writes numbers, dates, amounts, symbols and abbreviations as words. */
  normalize(sentence: string): string;
  /** Returns an empty string when nothing in the sentence can be read in this language. */
  phonemize(sentence: string): string | Promise<string>;
}
