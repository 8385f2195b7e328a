import { expect, test } from "vitest";
import { ModelFileError } from "./errors.ts";
import { SafetensorsIndex } from "./safetensors-index.ts";

/** A file with this header and `dataBytes` bytes of data. */
function fileOf(header: unknown, dataBytes: number): Uint8Array {
  const json = new TextEncoder().encode(typeof header === "string" ? header : JSON.stringify(header));
  const file = new Uint8Array(8 + json.length + dataBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(json.length), true);
  file.set(json, 8);
  return file;
}

const HEADER = {
  __metadata__: { format: "pt" },
  first: { dtype: "F32", shape: [2, 1], data_offsets: [0, 8] },
  second: { dtype: "BF16", shape: [3], data_offsets: [8, 14] },
  third: { dtype: "F16", shape: [], data_offsets: [14, 16] },
  numbers: { dtype: "I64", shape: [1], data_offsets: [0, 8] },
};

test("finds tensors at their offset from the beginning of the file", () => {
  const index = new SafetensorsIndex(fileOf(HEADER, 16));
  const data = 8 + JSON.stringify(HEADER).length;
  expect(index.tensor("first")).toEqual({ dims: [2, 1], type: "float32", offset: data, bytes: 8 });
  expect(index.tensor("second")).toEqual({ dims: [3], type: "bfloat16", offset: data + 8, bytes: 6 });
  expect(index.tensor("third")).toEqual({ dims: [], type: "float16", offset: data + 14, bytes: 2 });
});

test("reads a file that lies in a part of a larger buffer", () => {
  const file = fileOf(HEADER, 16);
  const buffer = new Uint8Array(file.length + 10);
  buffer.set(file, 10);
  expect(new SafetensorsIndex(buffer.subarray(10)).tensor("first")).toEqual(new SafetensorsIndex(file).tensor("first"));
});

test("distinguishes tensors from what objects inherit", () => {
  const index = new SafetensorsIndex(fileOf(HEADER, 16));
  expect(["first", "missing", "toString", "constructor"].map((name) => index.has(name))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test.each([
  ["missing", "no tensor missing"],
  ["__metadata__", "no tensor __metadata__"],
  ["toString", "no tensor toString"],
  ["numbers", "type I64"],
])("rejects the tensor %s", (name, message) => {
  const index = new SafetensorsIndex(fileOf(HEADER, 16));
  expect(() => index.tensor(name)).toThrow(ModelFileError);
  expect(() => index.tensor(name)).toThrow(message);
});

test("rejects a tensor beyond the end of a truncated file", () => {
  const index = new SafetensorsIndex(fileOf(HEADER, 13));
  expect(index.tensor("first").bytes).toBe(8);
  expect(() => index.tensor("second")).toThrow("The tensor second is cut off.");
});

test.each([
  ["is empty", new Uint8Array()],
  ["ends within the length", new Uint8Array(7)],
  ["ends within the header", fileOf(HEADER, 0).subarray(0, 40)],
  ["has a length above 2^63", new Uint8Array(8).fill(255)],
  ["has a header that is not JSON", fileOf("{first", 8)],
])("rejects a file that %s", (_what, file) => {
  expect(() => new SafetensorsIndex(file)).toThrow(ModelFileError);
});
