/** A GGUF model of any size with random weights: it costs what a trained model of its shape costs, and says nonsense. */

import { createCipheriv } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { float32, pair, text, uint32, uint64 } from "./gguf-values.ts";

export interface ModelShape {
  layers: number;
  /** Multiple of 32. */
  width: number;
  feedForward: number;
  heads: number;
  keyValueHeads: number;
  /** Tokens; 300 or more. */
  vocabulary: number;
  trainedContext: number;
  /** Context before the factors of the positions change (LongRoPE). Default: they never do. */
  originalContext?: number;
}

export const LLAMA_3_8B: ModelShape = {
  layers: 32,
  width: 4096,
  feedForward: 14_336,
  heads: 32,
  keyValueHeads: 8,
  vocabulary: 128_256,
  trainedContext: 131_072,
};

/** 10 MB. */
export const TINY: ModelShape = {
  layers: 2,
  width: 256,
  feedForward: 512,
  heads: 4,
  keyValueHeads: 2,
  vocabulary: 2048,
  trainedContext: 4096,
};

const STRING = 8;
const ARRAY = 9;
const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const TENSOR_F32 = 0;
const TENSOR_Q4_0 = 2;
const CONTROL_TOKEN = 3;
const ALIGNMENT = 32;
const BLOCK_WEIGHTS = 32;
const BLOCK_BYTES = 18;
/** Random blocks are repeated: generating gigabytes of them takes longer than writing them. */
const REPEATED_BLOCKS = 262_144;
const CONTROL = ["<|end|>", "<|user|>", "<|assistant|>"];
const TEMPLATE =
  "{% for message in messages %}<|user|>{{ message.content }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}";

interface Tensor {
  name: string;
  /** Fastest first. */
  dimensions: number[];
  type: number;
}

/** Q4_0 matrices, llama's architecture, a tokenizer of bytes. */
export async function writeRandomModel(path: string, shape: ModelShape): Promise<void> {
  const tensors = tensorsOf(shape);
  const pairs = metadataOf(shape);
  let offset = 0;
  const entries = tensors.map((tensor) => {
    const { name, dimensions, type } = tensor;
    const entry = [text(name), uint32(dimensions.length), ...dimensions.map(uint64), uint32(type), uint64(offset)];
    offset += aligned(bytesOf(tensor));
    return Buffer.concat(entry);
  });
  const header = Buffer.concat([
    Buffer.from("GGUF"),
    uint32(3),
    uint64(tensors.length),
    uint64(pairs.length),
    ...pairs,
    ...entries,
  ]);
  const file = createWriteStream(path);
  const write = async (bytes: Buffer) => {
    if (!file.write(bytes)) await once(file, "drain");
  };
  await write(Buffer.concat([header, Buffer.alloc(aligned(header.length) - header.length)]));
  const blocks = randomBlocks();
  const ones = Buffer.concat(Array.from({ length: shape.width }, () => float32(1)));
  for (const tensor of tensors) {
    const bytes = bytesOf(tensor);
    const source = tensor.type === TENSOR_F32 ? ones : blocks;
    for (let written = 0; written < bytes; written += source.length) {
      await write(source.subarray(0, Math.min(source.length, bytes - written)));
    }
    await write(Buffer.alloc(aligned(bytes) - bytes));
  }
  file.end();
  await once(file, "finish");
}

function tensorsOf({ layers, width, feedForward, heads, keyValueHeads, vocabulary }: ModelShape): Tensor[] {
  const keyValueWidth = (width / heads) * keyValueHeads;
  const matrix = (name: string, rows: number, columns: number): Tensor => ({
    name: `${name}.weight`,
    dimensions: [columns, rows],
    type: TENSOR_Q4_0,
  });
  const norm = (name: string): Tensor => ({ name: `${name}.weight`, dimensions: [width], type: TENSOR_F32 });
  const blocks = Array.from({ length: layers }, (_, layer) => [
    norm(`blk.${layer}.attn_norm`),
    matrix(`blk.${layer}.attn_q`, width, width),
    matrix(`blk.${layer}.attn_k`, keyValueWidth, width),
    matrix(`blk.${layer}.attn_v`, keyValueWidth, width),
    matrix(`blk.${layer}.attn_output`, width, width),
    norm(`blk.${layer}.ffn_norm`),
    matrix(`blk.${layer}.ffn_gate`, feedForward, width),
    matrix(`blk.${layer}.ffn_up`, feedForward, width),
    matrix(`blk.${layer}.ffn_down`, width, feedForward),
  ]);
  return [
    matrix("token_embd", vocabulary, width),
    ...blocks.flat(),
    norm("output_norm"),
    matrix("output", vocabulary, width),
  ];
}

function metadataOf(shape: ModelShape): Buffer[] {
  const { layers, width, feedForward, heads, keyValueHeads, vocabulary, trainedContext, originalContext } = shape;
  const numbers: [key: string, value: number][] = [
    ["llama.block_count", layers],
    ["llama.context_length", trainedContext],
    ["llama.embedding_length", width],
    ["llama.feed_forward_length", feedForward],
    ["llama.attention.head_count", heads],
    ["llama.attention.head_count_kv", keyValueHeads],
    ["llama.rope.dimension_count", width / heads],
    ["llama.vocab_size", vocabulary],
    ["general.file_type", 2],
  ];
  return [
    pair("general.architecture", STRING, text("llama")),
    pair("general.name", STRING, text("random weights")),
    ...numbers.map(([key, value]) => pair(key, UINT32, uint32(value))),
    pair("llama.attention.layer_norm_rms_epsilon", FLOAT32, float32(1e-5)),
    ...(originalContext === undefined ? [] : longRopePairs(originalContext)),
    ...tokenizerPairs(vocabulary),
  ];
}

function longRopePairs(originalContext: number): Buffer[] {
  return [
    pair("llama.rope.scaling.type", STRING, text("longrope")),
    pair("llama.rope.scaling.original_context_length", UINT32, uint32(originalContext)),
  ];
}

/** Metadata of a tokenizer of bytes with a chat template. `vocabulary`: tokens, 300 or more. */
export function tokenizerPairs(vocabulary: number): Buffer[] {
  const tokens = tokensOf(vocabulary);
  const types = tokens.map((token) => (CONTROL.includes(token) ? CONTROL_TOKEN : 1));
  return [
    pair("tokenizer.ggml.bos_token_id", UINT32, uint32(0)),
    pair("tokenizer.ggml.eos_token_id", UINT32, uint32(0)),
    pair("tokenizer.ggml.model", STRING, text("gpt2")),
    pair("tokenizer.ggml.pre", STRING, text("gpt-2")),
    pair("tokenizer.ggml.tokens", ARRAY, array(STRING, tokens.map(text))),
    pair("tokenizer.ggml.token_type", ARRAY, array(INT32, types.map(uint32))),
    pair("tokenizer.ggml.merges", ARRAY, array(STRING, [text("t h")])),
    pair("tokenizer.chat_template", STRING, text(TEMPLATE)),
  ];
}

function array(type: number, values: readonly Buffer[]): Buffer {
  return Buffer.concat([uint32(type), uint64(values.length), ...values]);
}

/** Control tokens, every byte as GPT-2 writes it, one merge, and words up to the size. */
function tokensOf(vocabulary: number): string[] {
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  let next = 256;
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : next++));
  const pieces = [...CONTROL, ...bytes, "th"];
  return [...pieces, ...Array.from({ length: vocabulary - pieces.length }, (_, index) => `Ġw${index}`)];
}

/**
 * Each block of 32 weights: a scale as a 16-bit float, and 4 bits a weight. They are the same in each file, since now
 * and then such a model says nothing at all.
 */
function randomBlocks(): Buffer {
  const keyStream = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16));
  const blocks = keyStream.update(Buffer.alloc(REPEATED_BLOCKS * BLOCK_BYTES));
  // 0.005: activations stay finite through 32 layers.
  for (let at = 0; at < blocks.length; at += BLOCK_BYTES) blocks.writeUInt16LE(0x1d1f, at);
  return blocks;
}

function bytesOf({ dimensions, type }: Tensor): number {
  const weights = dimensions.reduce((product, each) => product * each, 1);
  return type === TENSOR_F32 ? weights * 4 : (weights / BLOCK_WEIGHTS) * BLOCK_BYTES;
}

function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
}
