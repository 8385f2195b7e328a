/** A model of few layers, cut from a GGUF file: same tokenizer, template and shapes, at a fraction of the cost. */

import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { float32, pair, uint64 } from "@parlance-inference/llama-batching/gguf-values";

const LAYERS = 3;
const FIXED_BYTES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 };
const STRING = 8;
const ARRAY = 9;
const ALIGNMENT = 32;
const FLOAT = 6;
/** Recommended by the cut model, unlike by the original. */
const TEMPERATURE = { key: "general.sampling.temp", value: 0 };

interface Tensor {
  name: string;
  /** Its entry in the header, up to the offset. */
  entry: Buffer;
  offset: number;
}

/** Path of the first layers of the model in `file`, written once per version of this module's settings. */
export async function shallowModelPath(file: string): Promise<string> {
  const path = resolve(import.meta.dirname, `../../node_modules/.cache/parlance-test/${LAYERS}-layers-greedy.gguf`);
  if (existsSync(path)) return path;
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.${process.pid}`;
  await writeFile(partial, cutLayers(await readFile(file), LAYERS));
  await rename(partial, path);
  return path;
}

/** https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
function cutLayers(gguf: Buffer, layers: number): Buffer {
  let position = 8;
  const readNumber = (bytes: 4 | 8) => {
    const value = bytes === 4 ? gguf.readUInt32LE(position) : Number(gguf.readBigUInt64LE(position));
    position += bytes;
    return value;
  };
  const readString = () => {
    const end = readNumber(8) + position;
    const text = gguf.toString("utf8", position, end);
    position = end;
    return text;
  };
  const skipValue = (type: number) => {
    if (type === STRING) readString();
    else if (type === ARRAY) {
      const elementType = readNumber(4);
      for (let rest = readNumber(8); rest > 0; rest -= 1) skipValue(elementType);
    } else position += FIXED_BYTES[type] ?? Number.NaN;
  };

  const tensorCount = readNumber(8);
  const pairCount = readNumber(8);
  const pairsStart = position;
  const pairs: Buffer[] = [];
  for (let pair = 0; pair < pairCount; pair += 1) {
    const start = position;
    const isLayerCount = readString().endsWith(".block_count");
    skipValue(readNumber(4));
    const copied = Buffer.from(gguf.subarray(start, position));
    if (isLayerCount) copied.writeUInt32LE(layers, copied.length - 4);
    pairs.push(copied);
  }
  const tensors: Tensor[] = [];
  for (let tensor = 0; tensor < tensorCount; tensor += 1) {
    const start = position;
    const name = readString();
    const dimensions = readNumber(4);
    position += 8 * dimensions + 4;
    const entry = gguf.subarray(start, position);
    tensors.push({ name, entry, offset: readNumber(8) });
  }
  const dataStart = aligned(position);
  const ends = tensors.map(({ offset }) => offset).concat(gguf.length - dataStart);

  const kept = tensors.filter(({ name }) => Number(/^blk\.(\d+)\./.exec(name)?.[1] ?? 0) < layers);
  const data: Buffer[] = [];
  const entries: Buffer[] = [];
  let length = 0;
  for (const { entry, offset } of kept) {
    const end = Math.min(...ends.filter((other) => other > offset));
    entries.push(entry, uint64(length));
    data.push(gguf.subarray(dataStart + offset, dataStart + end));
    length += end - offset;
  }
  pairs.push(floatPair(TEMPERATURE));
  const counts = [uint64(kept.length), uint64(pairs.length)];
  const header = [gguf.subarray(0, 8), ...counts, gguf.subarray(24, pairsStart), ...pairs, ...entries];
  const size = header.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([...header, Buffer.alloc(aligned(size) - size), ...data]);
}

function aligned(position: number): number {
  return Math.ceil(position / ALIGNMENT) * ALIGNMENT;
}

function floatPair({ key, value }: { key: string; value: number }): Buffer {
  return pair(key, FLOAT, float32(value));
}
