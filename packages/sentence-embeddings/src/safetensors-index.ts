/** Reads where each tensor lies in a safetensors file (https://github.com/huggingface/safetensors, "Format"). */

import type { StoredTensor } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { z } from "zod";
import { ModelFileError } from "./errors.ts";

const TYPES = { F32: "float32", F16: "float16", BF16: "bfloat16" } as const;

const Entry = z.object({
  dtype: z.string(),
  shape: z.array(z.int().min(0)),
  data_offsets: z.tuple([z.int().min(0), z.int().min(0)]),
});

/** The header's length comes first, in eight bytes. */
const LENGTH_BYTES = 8;

export class SafetensorsIndex {
  readonly #header: Readonly<Record<string, unknown>>;
  readonly #dataStart: number;
  readonly #fileBytes: number;

  /** Throws a ModelFileError when `file` is not in this format. */
  constructor(file: Uint8Array) {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
    const length = file.byteLength < LENGTH_BYTES ? Number.NaN : Number(view.getBigUint64(0, true));
    this.#dataStart = LENGTH_BYTES + length;
    this.#fileBytes = file.byteLength;
    if (!(this.#dataStart <= file.byteLength)) throw new ModelFileError("The weights are not a safetensors file.");
    try {
      this.#header = JSON.parse(new TextDecoder().decode(file.subarray(LENGTH_BYTES, this.#dataStart)));
    } catch {
      throw new ModelFileError("The weights are not a safetensors file.");
    }
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#header, name);
  }

  /** Throws a ModelFileError for a tensor that is missing or of another type. */
  tensor(name: string): StoredTensor {
    const entry = Entry.safeParse(this.has(name) ? this.#header[name] : undefined);
    if (!entry.success) throw new ModelFileError(`The weights have no tensor ${name}.`);
    const { dtype, shape, data_offsets: range } = entry.data;
    const type = Object.hasOwn(TYPES, dtype) ? TYPES[dtype as keyof typeof TYPES] : undefined;
    if (type === undefined) throw new ModelFileError(`The tensor ${name} is of type ${dtype}, which is not supported.`);
    const [begin, end] = range;
    if (this.#dataStart + end > this.#fileBytes) throw new ModelFileError(`The tensor ${name} is cut off.`);
    return { dims: shape, type, offset: this.#dataStart + begin, bytes: end - begin };
  }
}
