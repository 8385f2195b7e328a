/** GGUF models of a few hundred kilobytes with random weights, in architectures whose states llama.cpp keeps differently. */

import { writeFile } from "node:fs/promises";
import { float32, pair, text, uint32, uint64 } from "../src/gguf-values.ts";
import { tokenizerPairs } from "../src/random-model.ts";

const UINT32 = 4;
const INT32 = 5;
const FLOAT32 = 6;
const STRING = 8;
const ARRAY = 9;
const TENSOR_F32 = 0;
/** Evaluated alike in batches of any size, unlike 32-bit matrices. */
const TENSOR_Q4_1 = 3;
const BLOCK_WEIGHTS = 32;
/** Step and minimum of a block's 16 values, as 16-bit floats: from -0.3 to 0.3. */
const BLOCK_STEP = 0x291f;
const BLOCK_MINIMUM = 0xb4cd;
const ALIGNMENT = 32;
const VOCABULARY = 320;
const WIDTH = 64;
const FEED_FORWARD = 128;
const HEAD = 32;
const TRAINED_CONTEXT = 8192;

type Value = number | readonly number[];
/** Fastest dimension first; `ones`: a norm. */
type Tensor = readonly [name: string, dimensions: readonly number[], fill?: "ones" | "negative"];

interface TinyModel {
  architecture: string;
  metadata: Readonly<Record<string, Value>>;
  tensors: readonly Tensor[];
}

const feedForward = (layer: number): Tensor[] => [
  [`blk.${layer}.ffn_gate.weight`, [WIDTH, FEED_FORWARD]],
  [`blk.${layer}.ffn_up.weight`, [WIDTH, FEED_FORWARD]],
  [`blk.${layer}.ffn_down.weight`, [FEED_FORWARD, WIDTH]],
];
const norm = (name: string, width = WIDTH): Tensor => [`${name}.weight`, [width], "ones"];
const attention = (layer: number, queryWidth = WIDTH): Tensor[] => [
  [`blk.${layer}.attn_q.weight`, [WIDTH, queryWidth]],
  [`blk.${layer}.attn_k.weight`, [WIDTH, HEAD]],
  [`blk.${layer}.attn_v.weight`, [WIDTH, HEAD]],
  [`blk.${layer}.attn_output.weight`, [WIDTH, WIDTH]],
];
const headNorms = (layer: number) => [norm(`blk.${layer}.attn_q_norm`, HEAD), norm(`blk.${layer}.attn_k_norm`, HEAD)];
/** With an output matrix: the transposed embedding would repeat the last token. */
const embedding: Tensor[] = [
  ["token_embd.weight", [WIDTH, VOCABULARY]],
  ["output.weight", [WIDTH, VOCABULARY]],
];
const shape = {
  context_length: TRAINED_CONTEXT,
  embedding_length: WIDTH,
  feed_forward_length: FEED_FORWARD,
  "attention.head_count": 2,
};
const heads = { "attention.head_count_kv": 1, "attention.key_length": HEAD, "attention.value_length": HEAD };

export const TINY_MODELS = {
  /** Layers 1 to 5 have a sliding window, layer 6 has none. */
  gemma3: {
    architecture: "gemma3",
    metadata: { ...shape, ...heads, block_count: 6, "attention.sliding_window": 96 },
    tensors: [
      ...embedding,
      norm("output_norm"),
      ...[0, 1, 2, 3, 4, 5].flatMap((layer) => [
        ...["attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"].map((name) =>
          norm(`blk.${layer}.${name}`),
        ),
        ...attention(layer),
        ...headNorms(layer),
        ...feedForward(layer),
      ]),
    ],
  },
  /** A short convolution, attention, and another convolution. */
  lfm2: {
    architecture: "lfm2",
    metadata: {
      ...shape,
      block_count: 3,
      "attention.head_count_kv": [0, 1, 0],
      "shortconv.l_cache": 3,
      vocab_size: VOCABULARY,
    },
    tensors: [
      ...embedding,
      norm("token_embd_norm"),
      ...[0, 1, 2].flatMap((layer) => [
        norm(`blk.${layer}.attn_norm`),
        norm(`blk.${layer}.ffn_norm`),
        ...feedForward(layer),
        ...(layer === 1
          ? [...attention(layer), ...headNorms(layer)]
          : ([
              [`blk.${layer}.shortconv.conv.weight`, [3, WIDTH]],
              [`blk.${layer}.shortconv.in_proj.weight`, [WIDTH, 3 * WIDTH]],
              [`blk.${layer}.shortconv.out_proj.weight`, [WIDTH, WIDTH]],
            ] as Tensor[])),
      ]),
    ],
  },
  /** Mamba 2, attention, Mamba 2. */
  granitehybrid: {
    architecture: "granitehybrid",
    metadata: {
      ...shape,
      block_count: 3,
      "attention.head_count_kv": [0, 1, 0],
      "ssm.conv_kernel": 4,
      "ssm.inner_size": 2 * WIDTH,
      "ssm.state_size": 16,
      "ssm.time_step_rank": 4,
      "ssm.group_count": 1,
    },
    tensors: [
      ...embedding,
      norm("output_norm"),
      ...[0, 1, 2].flatMap((layer) => [
        norm(`blk.${layer}.attn_norm`),
        norm(`blk.${layer}.ffn_norm`),
        ...feedForward(layer),
        ...(layer === 1 ? attention(layer) : mamba(layer)),
      ]),
    ],
  },
  /** Three layers of gated delta nets, then attention. */
  qwen35: {
    architecture: "qwen35",
    metadata: {
      ...shape,
      ...heads,
      block_count: 4,
      "rope.dimension_count": 16,
      "rope.dimension_sections": [4, 2, 2, 0],
      "ssm.conv_kernel": 4,
      "ssm.inner_size": 64,
      "ssm.state_size": 32,
      "ssm.time_step_rank": 2,
      "ssm.group_count": 1,
      full_attention_interval: 4,
    },
    tensors: [
      ...embedding,
      norm("output_norm"),
      ...[0, 1, 2, 3].flatMap((layer) => [
        norm(`blk.${layer}.attn_norm`),
        norm(`blk.${layer}.post_attention_norm`),
        ...feedForward(layer),
        ...(layer === 3 ? [...attention(layer, 2 * WIDTH), ...headNorms(layer)] : deltaNet(layer)),
      ]),
    ],
  },
} satisfies Record<string, TinyModel>;

function mamba(layer: number): Tensor[] {
  const channels = 2 * WIDTH + 2 * 16;
  return [
    [`blk.${layer}.ssm_in.weight`, [WIDTH, 2 * WIDTH + channels + 4]],
    [`blk.${layer}.ssm_conv1d.weight`, [4, channels]],
    [`blk.${layer}.ssm_conv1d.bias`, [channels]],
    [`blk.${layer}.ssm_dt.bias`, [4]],
    [`blk.${layer}.ssm_a`, [1, 4], "negative"],
    [`blk.${layer}.ssm_d`, [1, 4]],
    [`blk.${layer}.ssm_norm.weight`, [2 * WIDTH, 1], "ones"],
    [`blk.${layer}.ssm_out.weight`, [2 * WIDTH, WIDTH]],
  ];
}

function deltaNet(layer: number): Tensor[] {
  const [keys, values, valueHeads] = [32, 64, 2];
  return [
    [`blk.${layer}.attn_qkv.weight`, [WIDTH, 2 * keys + values]],
    [`blk.${layer}.attn_gate.weight`, [WIDTH, values]],
    [`blk.${layer}.ssm_conv1d.weight`, [4, 2 * keys + values]],
    [`blk.${layer}.ssm_dt.bias`, [valueHeads]],
    [`blk.${layer}.ssm_a`, [valueHeads], "negative"],
    [`blk.${layer}.ssm_beta.weight`, [WIDTH, valueHeads]],
    [`blk.${layer}.ssm_alpha.weight`, [WIDTH, valueHeads]],
    norm(`blk.${layer}.ssm_norm`, 32),
    [`blk.${layer}.ssm_out.weight`, [values, WIDTH]],
  ];
}

/** Weights come from a fixed seed. `isQuantized` false: 32-bit floats, which show the smallest difference of a state. */
export async function writeTinyModel(
  path: string,
  { architecture, metadata, tensors }: TinyModel,
  { isQuantized = true } = {},
): Promise<void> {
  const pairs = [
    pair("general.architecture", STRING, text(architecture)),
    ...Object.entries(metadata).map(([key, value]) => numbersPair(`${architecture}.${key}`, value)),
    pair(`${architecture}.attention.layer_norm_rms_epsilon`, FLOAT32, float32(1e-5)),
    ...tokenizerPairs(VOCABULARY),
  ];
  const random = randomNumbers();
  let offset = 0;
  const contents: Buffer[] = [];
  const entries = tensors.map((tensor) => {
    const [name, dimensions] = tensor;
    const hasBlocks = isQuantized && isMatrix(tensor);
    const type = hasBlocks ? TENSOR_Q4_1 : TENSOR_F32;
    const entry = [text(name), uint32(dimensions.length), ...dimensions.map(uint64), uint32(type), uint64(offset)];
    const content = padded(hasBlocks ? blocks(dimensions, random) : weights(tensor, random));
    contents.push(content);
    offset += content.length;
    return Buffer.concat(entry);
  });
  const start = [Buffer.from("GGUF"), uint32(3), uint64(tensors.length), uint64(pairs.length)];
  await writeFile(path, Buffer.concat([padded(Buffer.concat([...start, ...pairs, ...entries])), ...contents]));
}

/** Convolutions, norms and vectors are not quantized. */
function isMatrix([, dimensions, fill]: Tensor): boolean {
  return dimensions.length === 2 && fill === undefined && (dimensions[0] ?? 0) % BLOCK_WEIGHTS === 0;
}

function countOf(dimensions: readonly number[]): number {
  return dimensions.reduce((product, each) => product * each, 1);
}

function numbersPair(key: string, value: Value): Buffer {
  if (typeof value === "number") return pair(key, UINT32, uint32(value));
  return pair(key, ARRAY, Buffer.concat([uint32(INT32), uint64(value.length), ...value.map(uint32)]));
}

function weights([, dimensions, fill]: Tensor, random: () => number): Buffer {
  const weight = () => (fill === "ones" ? 1 : fill === "negative" ? -0.5 - random() : random() - 0.5);
  return Buffer.from(Float32Array.from({ length: countOf(dimensions) }, weight).buffer);
}

function blocks(dimensions: readonly number[], random: () => number): Buffer {
  const block = () => {
    const bytes = Buffer.from(Array.from({ length: 4 + BLOCK_WEIGHTS / 2 }, () => Math.floor(256 * random())));
    bytes.writeUInt16LE(BLOCK_STEP, 0);
    bytes.writeUInt16LE(BLOCK_MINIMUM, 2);
    return bytes;
  };
  return Buffer.concat(Array.from({ length: countOf(dimensions) / BLOCK_WEIGHTS }, block));
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & (ALIGNMENT - 1))]);
}

/** Lehmer's generator: equal on every machine. */
function randomNumbers(): () => number {
  let state = 42;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
