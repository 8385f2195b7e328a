/** Scores texts in other languages than English: a linear head on the layers of a multilingual sentence encoder. */

import { SentenceEncoder } from "@parlance-inference/sentence-embeddings/sentence-encoder";
import { RoundRobinLock } from "../../kernel/async/round-robin-lock.ts";
import { receiveMessages } from "../host/receive-messages.ts";
import { plainCharacters } from "./deobfuscate.ts";
import type { ForeignHead } from "./foreign-head.ts";
import { sigmoid } from "./pool-windows.ts";

/** E5 was trained with it. */
const PREFIX = "query: ";
const WINDOW_CHARACTERS = 400;
const OVERLAP_CHARACTERS = 60;

interface ForeignScoring {
  texts: readonly string[];
  project: string;
  signal: AbortSignal;
}

export class ForeignScorer {
  readonly #encoder: SentenceEncoder;
  readonly #weights: Float32Array;
  readonly #bias: readonly number[];
  readonly #turns = new RoundRobinLock();

  private constructor(encoder: SentenceEncoder, { weights, bias }: ForeignHead) {
    this.#encoder = encoder;
    this.#bias = bias;
    this.#weights = new Float32Array(new Uint8Array(Buffer.from(weights, "base64")).buffer);
  }

  /** `weights`: path of the encoder's file. */
  static async open(weights: string, head: ForeignHead, threads: number): Promise<ForeignScorer> {
    return new ForeignScorer(await SentenceEncoder.loadPacked({ weights, threads, pooledLayers: head.layers }), head);
  }

  /** Returns the scores of each text's windows; without windows once `signal` aborts. */
  async score({ texts, project, signal }: ForeignScoring): Promise<Float32Array[][]> {
    const windows = texts.flatMap((text, index) => cut(plainCharacters(text)).map((window) => ({ index, window })));
    const inputs = windows.map(({ window }) => PREFIX + window);
    const takeTurn = <Result>(batch: () => Promise<Result>) =>
      this.#turns.run(project, async () => {
        const result = await batch();
        await receiveMessages();
        return result;
      });
    const { values } = await this.#encoder.embed(inputs, { longInput: "average", signal, takeTurn });
    const scored = texts.map((): Float32Array[] => []);
    if (signal.aborted) return scored;
    const size = this.#encoder.dimensions;
    for (const [row, { index }] of windows.entries()) {
      scored[index]?.push(this.#scores(values.subarray(row * size, (row + 1) * size)));
    }
    return scored;
  }

  #scores(features: Float32Array): Float32Array {
    return Float32Array.from(this.#bias, (bias, category) => {
      let sum = bias;
      for (const [at, value] of features.entries()) {
        sum += value * (this.#weights[at * this.#bias.length + category] ?? 0);
      }
      return sigmoid(sum);
    });
  }

  close(): Promise<void> {
    return this.#encoder.close();
  }
}

/** Windows that end at white space or punctuation where there is any. */
function cut(text: string): string[] {
  const windows: string[] = [];
  let start = 0;
  while (text.length - start > WINDOW_CHARACTERS) {
    const part = text.slice(start, start + WINDOW_CHARACTERS);
    const [head = part] = part.match(/^.{200,}[\s。、,.!?]/su) ?? [];
    windows.push(head);
    start += head.length - OVERLAP_CHARACTERS;
  }
  windows.push(text.slice(start));
  return windows;
}
