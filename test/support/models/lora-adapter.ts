/** A LoRA adapter with fixed random weights, for tests. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */

import { float32, pair, text, uint32, uint64 } from "@parlance-inference/llama-batching/gguf-values";

const STRING = 8;
const FLOAT = 6;
const F32 = 0;
const ALIGNMENT = 32;
const RANK = 2;

/** Returns a GGUF file that changes the output of attention in the first layer of a model of this architecture. */
export function makeLoraAdapter(architecture: string, embeddingLength: number): Buffer {
  const pairs = [
    pair("general.architecture", STRING, text(architecture)),
    pair("general.type", STRING, text("adapter")),
    pair("adapter.type", STRING, text("lora")),
    pair("adapter.lora.alpha", FLOAT, float32(100 * RANK)),
  ];
  const weights = Array.from({ length: embeddingLength * RANK }, (_, index) => Math.sin(index * 12.9898) / 4);
  const data = Buffer.from(new Float32Array(weights).buffer);
  const tensors = [
    tensor("blk.0.attn_output.weight.lora_a", [embeddingLength, RANK], 0),
    tensor("blk.0.attn_output.weight.lora_b", [RANK, embeddingLength], data.length),
  ];
  const start = [Buffer.from("GGUF"), uint32(3), uint64(tensors.length), uint64(pairs.length)];
  const header = Buffer.concat([...start, ...pairs, ...tensors]);
  const padding = Buffer.alloc((ALIGNMENT - (header.length % ALIGNMENT)) % ALIGNMENT);
  return Buffer.concat([header, padding, data, data]);
}

function tensor(name: string, dimensions: readonly number[], offset: number): Buffer {
  return Buffer.concat([text(name), uint32(dimensions.length), ...dimensions.map(uint64), uint32(F32), uint64(offset)]);
}
