import { type InferenceSession, Tensor } from "onnxruntime-node";
import { openSession } from "../open-session.ts";

/** Input letters and output phonemes of the network. */
export interface GraphemeToPhonemeAlphabet {
  in: readonly string[];
  out: readonly string[];
  /** Letters that one call accepts. */
  maxlen: number;
}

/** Predicts the phonemes of words that no dictionary has, with a small network. */
export class GraphemeToPhoneme {
  readonly #session: InferenceSession;
  readonly #letters: ReadonlyMap<string, number>;
  readonly #alphabet: GraphemeToPhonemeAlphabet;

  private constructor(session: InferenceSession, alphabet: GraphemeToPhonemeAlphabet) {
    this.#session = session;
    this.#alphabet = alphabet;
    this.#letters = new Map(alphabet.in.map((letter, index) => [letter, index + 1]));
  }

  static async open(file: string, alphabet: GraphemeToPhonemeAlphabet): Promise<GraphemeToPhoneme> {
    const session = await openSession(file, 1);
    return new GraphemeToPhoneme(session, alphabet);
  }

  /** Returns undefined for a word without a known letter. */
  async guess(word: string): Promise<string | undefined> {
    const letters = [...word].map((letter) => this.#letters.get(letter)).filter((id) => id !== undefined);
    if (letters.length === 0) return undefined;
    const parts: string[] = [];
    for (let start = 0; start < letters.length; start += this.#alphabet.maxlen) {
      parts.push(await this.#read(letters.slice(start, start + this.#alphabet.maxlen)));
    }
    return parts.join("");
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  /** Decodes CTC output: collapses repeated IDs and drops the blank, 0. */
  async #read(letters: readonly number[]): Promise<string> {
    const chars = new Tensor("int64", BigInt64Array.from(letters, BigInt), [1, letters.length]);
    const { ids } = await this.#session.run({ chars });
    const written = Array.from(ids?.data as BigInt64Array, Number);
    return written
      .filter((id, index) => id !== 0 && id !== written[index - 1])
      .map((id) => this.#alphabet.out[id - 1] ?? "")
      .join("");
  }
}
