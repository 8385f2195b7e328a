import { type InferenceSession, Tensor } from "onnxruntime-node";
import { openSession } from "../open-session.ts";

/** The letters that the network reads, and the phonemes that it writes. */
export interface UnknownWordsAlphabet {
  in: readonly string[];
  out: readonly string[];
  /** Letters of a word that it reads. */
  maxlen: number;
}

/** A small network guesses how a word sounds that no dictionary has. */
export class UnknownWords {
  readonly #session: InferenceSession;
  readonly #letters: ReadonlyMap<string, number>;
  readonly #alphabet: UnknownWordsAlphabet;

  private constructor(session: InferenceSession, alphabet: UnknownWordsAlphabet) {
    this.#session = session;
    this.#alphabet = alphabet;
    this.#letters = new Map(alphabet.in.map((letter, index) => [letter, index + 1]));
  }

  static async open(file: string, alphabet: UnknownWordsAlphabet): Promise<UnknownWords> {
    const session = await openSession(file, 1);
    return new UnknownWords(session, alphabet);
  }

  /** Undefined for a word in a script that it does not read. */
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

  /** The network writes several ids for each letter: repetitions count once, and 0 is nothing. */
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
