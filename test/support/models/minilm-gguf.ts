/** Writes all-MiniLM-L6-v2 as GGUF (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md), from its safetensors. */

import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { float32, pair, text, uint32, uint64 } from "@parlance-inference/llama-batching/gguf-values";
import { SafetensorsIndex } from "../../../packages/sentence-embeddings/src/safetensors-index.ts";
import { TEST_MODELS_DIRECTORY } from "./default-model.ts";

const SOURCE = join(TEST_MODELS_DIRECTORY, "moderation-minilm");
const ALIGNMENT = 32;
const LAYERS = 6;
/** Types of values. */
const [UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY] = [4, 5, 6, 7, 8, 9];
/** Types of tokens. */
const [NORMAL, UNKNOWN, CONTROL] = [1, 2, 3];
const F32 = 0;
/** llama.cpp's types of pooling: the mean of the tokens' vectors, and a score of a pair of texts. */
const [MEAN, RANK] = [1, 4];
const WIDTH = 384;

/** Tensors in addition to those of the encoder. */
type Extra = ReadonlyArray<{ name: string; dims: readonly number[]; data: Buffer }>;

/** Path of the file, written once. */
export async function minilmGgufPath(): Promise<string> {
  return writeOnce("minilm.gguf", () => toGguf([pair("bert.pooling_type", UINT32, uint32(MEAN))], []));
}

/** Path of a reranker: the same encoder with a head that reads one value of the vector of [CLS]. */
export async function rerankerGgufPath(column: number): Promise<string> {
  const weight = Float32Array.from({ length: WIDTH }, (_, index) => (index === column ? 1 : 0));
  const head = [{ name: "cls.output.weight", dims: [1, WIDTH], data: Buffer.from(weight.buffer) }];
  return writeOnce(`reranker-${column}.gguf`, () => toGguf([pair("bert.pooling_type", UINT32, uint32(RANK))], head));
}

async function writeOnce(name: string, make: () => Promise<Buffer>): Promise<string> {
  const path = resolve(import.meta.dirname, "../../../node_modules/.cache/parlance-test", name);
  if (existsSync(path)) return path;
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, await make());
  await rename(partial, path);
  return path;
}

async function toGguf(pooling: readonly Buffer[], extra: Extra): Promise<Buffer> {
  const weights = await readFile(join(SOURCE, "model.safetensors"));
  const index = new SafetensorsIndex(weights);
  const tokenizer = JSON.parse(await readFile(join(SOURCE, "tokenizer.json"), "utf8"));
  const pairs = [...MODEL, ...pooling, ...vocabulary(tokenizer.model.vocab)];
  const tensors = Object.entries(tensorNames()).map(([name, source]) => ({ name, ...index.tensor(source) }));
  const entries: Buffer[] = [];
  const data: Buffer[] = [];
  let length = 0;
  for (const { name, dims, type, offset, bytes } of tensors) {
    if (type !== "float32") throw new Error(`${name} is of type ${type}`);
    entries.push(text(name), uint32(dims.length), ...dims.toReversed().map(uint64), uint32(F32), uint64(length));
    const padding = aligned(bytes) - bytes;
    data.push(weights.subarray(offset, offset + bytes), Buffer.alloc(padding));
    length += bytes + padding;
  }
  for (const { name, dims, data: values } of extra) {
    entries.push(text(name), uint32(dims.length), ...dims.toReversed().map(uint64), uint32(F32), uint64(length));
    const padding = aligned(values.length) - values.length;
    data.push(values, Buffer.alloc(padding));
    length += values.length + padding;
  }
  const count = tensors.length + extra.length;
  const head = [Buffer.from("GGUF"), uint32(3), uint64(count), uint64(pairs.length), ...pairs, ...entries];
  const size = head.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([...head, Buffer.alloc(aligned(size) - size), ...data]);
}

function tensorNames(): Record<string, string> {
  const names: Record<string, string> = {
    "token_embd.weight": "embeddings.word_embeddings.weight",
    "position_embd.weight": "embeddings.position_embeddings.weight",
    "token_types.weight": "embeddings.token_type_embeddings.weight",
  };
  const add = (name: string, source: string) => {
    for (const part of ["weight", "bias"]) names[`${name}.${part}`] = `${source}.${part}`;
  };
  add("token_embd_norm", "embeddings.LayerNorm");
  for (let layer = 0; layer < LAYERS; layer += 1) {
    const source = `encoder.layer.${layer}`;
    add(`blk.${layer}.attn_q`, `${source}.attention.self.query`);
    add(`blk.${layer}.attn_k`, `${source}.attention.self.key`);
    add(`blk.${layer}.attn_v`, `${source}.attention.self.value`);
    add(`blk.${layer}.attn_output`, `${source}.attention.output.dense`);
    add(`blk.${layer}.attn_output_norm`, `${source}.attention.output.LayerNorm`);
    add(`blk.${layer}.ffn_up`, `${source}.intermediate.dense`);
    add(`blk.${layer}.ffn_down`, `${source}.output.dense`);
    add(`blk.${layer}.layer_output_norm`, `${source}.output.LayerNorm`);
  }
  return names;
}

function vocabulary(ids: Readonly<Record<string, number>>): Buffer[] {
  const tokens = Object.entries(ids).toSorted(([, one], [, other]) => one - other);
  const isSpecial = (token: string) => /^\[[A-Z]+\d*\]$/.test(token);
  // llama.cpp marks the beginning of a word rather than its continuation.
  const written = tokens.map(([token]) => {
    if (isSpecial(token)) return token;
    return token.startsWith("##") ? token.slice(2) : `\u2581${token}`;
  });
  const types = tokens.map(([token]) => (token === "[UNK]" ? UNKNOWN : isSpecial(token) ? CONTROL : NORMAL));
  const id = (name: string, token: string) => pair(`tokenizer.ggml.${name}_token_id`, UINT32, uint32(ids[token] ?? 0));
  return [
    pair("tokenizer.ggml.model", STRING, text("bert")),
    pair("tokenizer.ggml.tokens", ARRAY, array(STRING, written.map(text))),
    pair(
      "tokenizer.ggml.token_type",
      ARRAY,
      array(
        INT32,
        types.map((type) => uint32(type ?? 0)),
      ),
    ),
    pair("tokenizer.ggml.token_type_count", UINT32, uint32(2)),
    id("bos", "[CLS]"),
    id("cls", "[CLS]"),
    id("eos", "[SEP]"),
    id("seperator", "[SEP]"),
    id("unknown", "[UNK]"),
    id("padding", "[PAD]"),
    id("mask", "[MASK]"),
  ];
}

const MODEL = [
  pair("general.architecture", STRING, text("bert")),
  pair("general.alignment", UINT32, uint32(ALIGNMENT)),
  pair("bert.context_length", UINT32, uint32(512)),
  pair("bert.embedding_length", UINT32, uint32(384)),
  pair("bert.feed_forward_length", UINT32, uint32(1536)),
  pair("bert.block_count", UINT32, uint32(LAYERS)),
  pair("bert.attention.head_count", UINT32, uint32(12)),
  pair("bert.attention.layer_norm_epsilon", FLOAT32, float32(1e-12)),
  pair("bert.attention.causal", BOOL, Buffer.of(0)),
];

function array(type: number | undefined, values: readonly Buffer[]): Buffer {
  return Buffer.concat([uint32(type ?? 0), uint64(values.length), ...values]);
}

function aligned(position: number): number {
  return Math.ceil(position / ALIGNMENT) * ALIGNMENT;
}
