/**
 * The index of a Whisper model in the format of CTranslate2 (`model.bin` of the `faster-whisper-*` models): which
 * tensor lies where. The tensors themselves stay in the file, from which ONNX Runtime reads them.
 */

import { type FileHandle, open } from "node:fs/promises";
import { invalidRequest } from "../../faults.ts";

export type ElementType = "float32" | "float16" | "bfloat16";

export interface Tensor {
  dims: readonly number[];
  type: ElementType;
  /** From the beginning of the file. */
  offset: number;
  bytes: number;
}

export interface Weights {
  /** Throws a Fault when the file has no such tensor, or has it quantised. */
  tensor(name: string): Tensor;
  /** Layers below a name such as `decoder`. */
  layers(stack: "encoder" | "decoder"): number;
  /** Attention heads of each layer. */
  heads: number;
}

interface Entry extends Omit<Tensor, "type"> {
  type: ElementType | undefined;
}

/** CTranslate2's numbers; the integer types are those of quantised models and of single values. */
const TYPES: Readonly<Record<number, ElementType>> = { 0: "float32", 4: "float16", 5: "bfloat16" };
const BINARY_VERSION = 6;
const SPECIFICATION = "WhisperSpec";
/** A name, its dimensions and what goes with them fit in. */
const HEAD_BYTES = 1024;

export async function readWeights(path: string): Promise<Weights> {
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
  const start = await reader(file, 0);
  if (start.uint32() !== BINARY_VERSION || start.name() !== SPECIFICATION) throw foreign(path);
  start.uint32();
  const count = start.uint32();
  const entries = new Map<string, Entry>();
  let position = start.position;
  for (let index = 0; index < count; index += 1) {
    const head = await reader(file, position);
    const name = head.name();
    const dims = Array.from({ length: head.uint8() }, () => head.uint32());
    const type = TYPES[head.uint8()];
    const bytes = head.uint32();
    entries.set(name, { dims, type, bytes, offset: head.position });
    position = head.position + bytes;
    if (position > size) throw invalidRequest(`${path} is cut short.`, "files.model");
  }
  return entries;
}

async function readHeads(file: FileHandle, entry: Entry | undefined, path: string): Promise<number> {
  if (entry === undefined) throw foreign(path);
  const { buffer } = await file.read(Buffer.alloc(entry.bytes), 0, entry.bytes, entry.offset);
  return buffer.readIntLE(0, entry.bytes);
}

function toWeights(entries: ReadonlyMap<string, Entry>, path: string, heads: number): Weights {
  return {
    heads,
    tensor(name) {
      const entry = entries.get(name);
      if (entry === undefined) throw foreign(path);
      const { type } = entry;
      if (type === undefined) {
        throw invalidRequest(`${path} is quantised; only models in float16 or float32 are run.`, "files.model");
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

function foreign(path: string) {
  return invalidRequest(`${path} is no Whisper model in the format of CTranslate2.`, "files.model");
}

async function reader(file: FileHandle, offset: number) {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, offset);
  let at = 0;
  const take = (bytes: number): number => {
    const from = at;
    at += bytes;
    if (at > bytesRead) throw invalidRequest("The model's file is cut short.", "files.model");
    return from;
  };
  return {
    uint8: () => buffer.readUInt8(take(1)),
    uint32: () => buffer.readUInt32LE(take(4)),
    /** Its length goes before it, and a zero ends it. */
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
