/**
 * Index of the tensors in a CTranslate2 Whisper model (`model.bin` of the `faster-whisper-*` models). The tensors stay in
 * the file, from which ONNX Runtime reads them.
 */

import { type FileHandle, open } from "node:fs/promises";
import type { ElementType, StoredTensor } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { ModelFileError } from "./errors.ts";

/** A matrix in int8, whose rows are the stored values times their scales. */
export interface QuantizedMatrix {
  /** [columns, rows] */
  values: StoredTensor;
  /** [rows] */
  scales: StoredTensor;
}

export interface WeightIndex {
  /** Throws a ModelFileError when the tensor is missing or quantized. */
  tensor(name: string): StoredTensor;
  /** Throws as `tensor` does. Undefined: matrices are multiplied in float32. */
  matrix?(name: string): QuantizedMatrix;
  /** Number of layers. */
  layers(stack: "encoder" | "decoder"): number;
  /** Attention heads per layer. */
  heads: number;
}

interface Entry extends Omit<StoredTensor, "type"> {
  type: ElementType | undefined;
}

/** CTranslate2's DataType; the integer types are those of quantized models and of scalars. */
const TYPES: Readonly<Record<number, ElementType>> = { 0: "float32", 4: "float16", 5: "bfloat16" };
const BINARY_VERSION = 6;
const SPECIFICATION = "WhisperSpec";
/** Large enough for a tensor's name, dimensions, type and size. */
const ENTRY_HEADER_BYTES = 1024;

/** Reads where each tensor lies. Throws a ModelFileError for another format, a quantized model or a truncated file. */
export async function readWeightIndex(path: string): Promise<WeightIndex> {
  const file = await open(path);
  try {
    const entries = await readIndex(file, path);
    return toWeights(entries, path, await readHeads(file, entries.get("decoder/num_heads"), path));
  } finally {
    await file.close();
  }
}

async function readIndex(file: FileHandle, path: string): Promise<Map<string, Entry>> {
  const { size } = await file.stat();
  const header = await reader(file, 0);
  if (header.uint32() !== BINARY_VERSION || header.name() !== SPECIFICATION) throw notAWhisperModel(path);
  header.uint32();
  const count = header.uint32();
  const entries = new Map<string, Entry>();
  let position = header.position;
  for (let index = 0; index < count; index += 1) {
    const entry = await reader(file, position);
    const name = entry.name();
    const dims = Array.from({ length: entry.uint8() }, () => entry.uint32());
    const type = TYPES[entry.uint8()];
    const bytes = entry.uint32();
    entries.set(name, { dims, type, bytes, offset: entry.position });
    position = entry.position + bytes;
    if (position > size) throw new ModelFileError("weights", `${path} is truncated.`);
  }
  return entries;
}

async function readHeads(file: FileHandle, entry: Entry | undefined, path: string): Promise<number> {
  if (entry === undefined) throw notAWhisperModel(path);
  const { buffer } = await file.read(Buffer.alloc(entry.bytes), 0, entry.bytes, entry.offset);
  return buffer.readIntLE(0, entry.bytes);
}

function toWeights(entries: ReadonlyMap<string, Entry>, path: string, heads: number): WeightIndex {
  return {
    heads,
    tensor(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw notAWhisperModel(path);
      const { type } = entry;
      if (type === undefined) {
        throw new ModelFileError(
          "weights",
          `${path} is quantized. Only float16, bfloat16 and float32 models are supported.`,
        );
      }
      return { ...entry, type };
    },
    layers(stack) {
      let count = 0;
      while (entries.has(`${stack}/layer_${count}/self_attention/linear_0/weight`)) count += 1;
      return count;
    },
  };
}

function notAWhisperModel(path: string) {
  return new ModelFileError("weights", `${path} is not a CTranslate2 Whisper model.`);
}

async function reader(file: FileHandle, offset: number) {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(ENTRY_HEADER_BYTES), 0, ENTRY_HEADER_BYTES, offset);
  let at = 0;
  const take = (bytes: number): number => {
    const from = at;
    at += bytes;
    if (at > bytesRead) throw new ModelFileError("weights", "The model's file is truncated.");
    return from;
  };
  return {
    uint8: () => buffer.readUInt8(take(1)),
    uint32: () => buffer.readUInt32LE(take(4)),
    /** Length-prefixed and zero-terminated. */
    name: () => {
      const length = buffer.readUInt16LE(take(2));
      const from = take(length);
      return buffer.toString("utf8", from, from + length - 1);
    },
    get position() {
      return offset + at;
    },
  };
}
