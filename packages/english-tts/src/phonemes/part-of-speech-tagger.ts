/** Tags words with Penn Treebank parts of speech, by an averaged perceptron with pretrained weights. */

export interface TaggerWeights {
  tags: readonly string[];
  /** Words with a single tag. */
  tagdict: Readonly<Record<string, string>>;
  /** Words that features name; other words are replaced by their shape. */
  vocab: readonly string[];
  /** Feature → tag → weight. */
  weights: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const BEFORE = ["-START2-", "-START-"];
const AFTER = ["-END-", "-END2-"];

export class PartOfSpeechTagger {
  readonly #weights: TaggerWeights;
  readonly #vocabulary: ReadonlySet<string>;

  constructor(weights: TaggerWeights) {
    this.#weights = weights;
    this.#vocabulary = new Set(weights.vocab);
  }

  /** Returns one tag for each word or punctuation mark of a sentence. */
  tag(words: readonly string[]): string[] {
    const context = [...BEFORE, ...words.map((word) => this.#inContext(word)), ...AFTER];
    const tags: string[] = [];
    for (const [index, word] of words.entries()) {
      const tag = Object.hasOwn(this.#weights.tagdict, word) ? this.#weights.tagdict[word] : undefined;
      const before = tags.at(-1) ?? (BEFORE[1] as string);
      const beforeThat = tags.at(-2) ?? (index === 1 ? (BEFORE[1] as string) : (BEFORE[0] as string));
      tags.push(tag ?? this.#choose(featuresOf(word, index, context, before, beforeThat)));
    }
    return tags;
  }

  #choose(features: readonly string[]): string {
    const scores = new Map<string, number>();
    for (const feature of features) {
      const weights = Object.hasOwn(this.#weights.weights, feature) ? this.#weights.weights[feature] : undefined;
      for (const [tag, weight] of Object.entries(weights ?? {})) scores.set(tag, (scores.get(tag) ?? 0) + weight);
    }
    let best = "NN";
    let highest = Number.NEGATIVE_INFINITY;
    for (const tag of scores.size === 0 ? [] : this.#weights.tags) {
      const score = scores.get(tag) ?? 0;
      if (score < highest || (score === highest && tag < best)) continue;
      best = tag;
      highest = score;
    }
    return best;
  }

  #inContext(word: string): string {
    const name = nameOf(word);
    return this.#vocabulary.has(name) ? name : `<${shapeOf(word)}>`;
  }
}

function featuresOf(word: string, index: number, context: readonly string[], before: string, beforeThat: string) {
  const at = (offset: number) => context[index + 2 + offset] ?? "";
  const ending = (text: string) => text.slice(-3);
  return [
    "b",
    `s3=${ending(word)}`,
    `p1=${word[0]}`,
    `w=${at(0)}`,
    `sh=${shapeOf(word)}`,
    index === 0 ? "i0" : "i+",
    `t-1=${before}`,
    `t-2=${beforeThat}`,
    `t-12=${before},${beforeThat}`,
    `w-1=${at(-1)}`,
    `s3-1=${ending(at(-1))}`,
    `w-2=${at(-2)}`,
    `w+1=${at(1)}`,
    `s3+1=${ending(at(1))}`,
    `w+2=${at(2)}`,
  ];
}

function nameOf(word: string): string {
  if (word.includes("-") && !word.startsWith("-")) return "!HYPHEN";
  if (/^\d{4}$/.test(word)) return "!YEAR";
  return /^\d/.test(word) ? "!DIGITS" : word.toLowerCase();
}

function shapeOf(word: string): string {
  if (/^\d+$/.test(word)) return "d";
  if (!/^\p{L}+$/u.test(word)) return word.slice(0, 4).replaceAll(/\d/g, "d").replaceAll(/\p{L}/gu, "x");
  if (word === word.toLowerCase()) return "x";
  if (word === word.toUpperCase()) return word.length > 1 ? "XX" : "X1";
  return /^\p{Lu}\p{Ll}+$/u.test(word) ? "Xx" : "xX";
}
