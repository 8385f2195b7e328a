/** Files of an encoder with random weights, for tests: one layer, two heads, a vocabulary of a few words. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";

export const VOCABULARY = {
  "[PAD]": 0,
  "[UNK]": 1,
  "[CLS]": 2,
  "[SEP]": 3,
  the: 4,
  cat: 5,
  "##s": 6,
  sat: 7,
  ".": 8,
  dog: 9,
} as const;

const special = (content: keyof typeof VOCABULARY) => ({
  id: VOCABULARY[content],
  content,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
  special: true,
});

/** tokenizer.json of a BERT model. */
export const TOKENIZER = {
  version: "1.0",
  truncation: null,
  padding: null,
  added_tokens: (["[PAD]", "[UNK]", "[CLS]", "[SEP]"] as const).map(special),
  normalizer: {
    type: "BertNormalizer",
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: "BertPreTokenizer" },
  post_processor: null,
  decoder: { type: "WordPiece", prefix: "##", cleanup: true },
  model: {
    type: "WordPiece",
    unk_token: "[UNK]",
    continuing_subword_prefix: "##",
    max_input_chars_per_word: 100,
    vocab: VOCABULARY,
  },
};

export const CONFIG = { tokenizer_class: "BertTokenizer", do_lower_case: true, unk_token: "[UNK]" };

export const WIDTH = 8;
const WIDE = 16;
const POSITIONS = 32;

function shapes(): Record<string, number[]> {
  const layer = "encoder.layer.0";
  const linear = (name: string, output: number, input: number) => ({
    [`${name}.weight`]: [output, input],
    [`${name}.bias`]: [output],
  });
  const normal = (name: string) => ({ [`${name}.weight`]: [WIDTH], [`${name}.bias`]: [WIDTH] });
  return {
    "embeddings.word_embeddings.weight": [Object.keys(VOCABULARY).length, WIDTH],
    "embeddings.position_embeddings.weight": [POSITIONS, WIDTH],
    "embeddings.token_type_embeddings.weight": [2, WIDTH],
    ...normal("embeddings.LayerNorm"),
    ...linear(`${layer}.attention.self.query`, WIDTH, WIDTH),
    ...linear(`${layer}.attention.self.key`, WIDTH, WIDTH),
    ...linear(`${layer}.attention.self.value`, WIDTH, WIDTH),
    ...linear(`${layer}.attention.output.dense`, WIDTH, WIDTH),
    ...normal(`${layer}.attention.output.LayerNorm`),
    ...linear(`${layer}.intermediate.dense`, WIDE, WIDTH),
    ...linear(`${layer}.output.dense`, WIDTH, WIDE),
    ...normal(`${layer}.output.LayerNorm`),
  };
}

/** Writes the files and returns their paths. The weights are the same in each run. */
export async function writeEncoder(
  folder: string,
): Promise<Record<"weights" | "tokenizer" | "tokenizerConfig", string>> {
  const header: Record<string, object> = {};
  const values: number[] = [];
  let seed = 7;
  for (const [name, shape] of Object.entries(shapes())) {
    const begin = values.length * 4;
    const count = shape.reduce((product, each) => product * each, 1);
    for (let index = 0; index < count; index += 1) {
      seed = (seed * 48_271) % 2_147_483_647;
      values.push((seed / 2_147_483_647) * 2 - 1);
    }
    header[name] = { dtype: "F32", shape, data_offsets: [begin, values.length * 4] };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  const path = (name: string) => join(folder, name);
  await writeFile(
    path("model.safetensors"),
    Buffer.concat([length, json, new Uint8Array(Float32Array.from(values).buffer)]),
  );
  await writeFile(path("tokenizer.json"), JSON.stringify(TOKENIZER));
  await writeFile(path("tokenizer_config.json"), JSON.stringify(CONFIG));
  return {
    weights: path("model.safetensors"),
    tokenizer: path("tokenizer.json"),
    tokenizerConfig: path("tokenizer_config.json"),
  };
}
