import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readWeightIndex } from "./ctranslate2-weights.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "whisper-weights-"));
});
afterEach(() => rm(folder, { recursive: true }));

function name(text: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16LE(text.length + 1);
  return Buffer.concat([length, Buffer.from(`${text}\0`)]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

interface Variable {
  name: string;
  dims: number[];
  type: number;
  bytes: Buffer;
}

function file(variables: Variable[], { version = 6, specification = "WhisperSpec" } = {}): Buffer {
  const entries = variables.map(({ name: called, dims, type, bytes }) =>
    Buffer.concat([
      name(called),
      Buffer.of(dims.length),
      ...dims.map(number),
      Buffer.of(type),
      number(bytes.length),
      bytes,
    ]),
  );
  return Buffer.concat([number(version), name(specification), number(3), number(variables.length), ...entries]);
}

const HEADS: Variable = { name: "decoder/num_heads", dims: [], type: 2, bytes: Buffer.of(8, 0) };
const HALF: Variable = { name: "decoder/embeddings/weight", dims: [2, 3], type: 4, bytes: Buffer.alloc(12, 7) };
const INTEGERS: Variable = { ...HALF, type: 1, bytes: Buffer.alloc(6) };

async function read(content: Buffer) {
  const path = join(folder, "model.bin");
  await writeFile(path, content);
  return readWeightIndex(path);
}

test("locates each tensor in the file", async () => {
  const content = file([HEADS, HALF]);
  const weights = await read(content);
  expect(weights.heads).toBe(8);
  const tensor = weights.tensor("decoder/embeddings/weight");
  expect(tensor).toMatchObject({ dims: [2, 3], type: "float16", bytes: 12 });
  expect(content.subarray(tensor.offset, tensor.offset + 12)).toEqual(HALF.bytes);
});

test.each([
  ["a text", Buffer.from("This is not a model. ".repeat(100)), "not a CTranslate2 Whisper model"],
  ["nothing", Buffer.alloc(0), "truncated"],
  ["another kind of model", file([HEADS], { specification: "TransformerSpec" }), "not a CTranslate2 Whisper model"],
  ["another version", file([HEADS], { version: 3 }), "not a CTranslate2 Whisper model"],
  ["half a file", file([HEADS, HALF]).subarray(0, -4), "truncated"],
  ["a model without a decoder", file([HALF]), "not a CTranslate2 Whisper model"],
])("rejects %s", async (_name, content, message) => {
  await expect(read(content)).rejects.toMatchObject({
    name: "ModelFileError",
    message: expect.stringContaining(message),
  });
});

test("rejects quantized tensors and unknown names", async () => {
  const weights = await read(file([HEADS, INTEGERS]));
  expect(() => weights.tensor(INTEGERS.name)).toThrow("is quantized");
  expect(() => weights.tensor("encoder/conv1/weight")).toThrow("not a CTranslate2 Whisper model");
});
