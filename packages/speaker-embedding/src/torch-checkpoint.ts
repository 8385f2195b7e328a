/**
 * Index of the tensors in a PyTorch checkpoint (`torch.save` of a state dict). The tensors stay in the file, from which ONNX
 * Runtime reads them: the archive stores them uncompressed.
 */

import type { StoredTensor } from "@parlance-inference/onnx-graph/onnx-graph-builder";
import { Parser } from "pickleparser";
import { openPromise } from "yauzl";

export interface TorchCheckpoint {
  /** Throws an Error when the tensor is missing or not in float32. */
  tensor(name: string): StoredTensor;
}

interface Storage {
  type: string;
  key: string;
}

interface PickledTensor {
  storage: Storage;
  /** In elements. */
  offset: number;
  dims: readonly number[];
}

const FLOAT_BYTES = 4;
const PICKLE = /\/data\.pkl$/;

/** Runs nothing of what the pickle names. */
export async function readTorchCheckpoint(path: string): Promise<TorchCheckpoint> {
  const archive = await openPromise(path, { autoClose: false });
  try {
    const positions = new Map<string, number>();
    let pickle: Buffer | undefined;
    for await (const entry of archive.eachEntry()) {
      const { fileName } = entry;
      if (PICKLE.test(fileName)) {
        pickle = Buffer.concat(await (await archive.openReadStreamPromise(entry)).toArray());
      } else if (entry.compressionMethod === 0) {
        const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true });
        positions.set(fileName.slice(fileName.lastIndexOf("/") + 1), fileDataStart);
      }
    }
    if (pickle === undefined) throw new Error(`${path} is not a PyTorch checkpoint.`);
    return toCheckpoint(path, parse(pickle), positions);
  } finally {
    archive.close();
  }
}

function parse(pickle: Buffer): Readonly<Record<string, PickledTensor>> {
  const parser = new Parser({
    nameResolver: { resolve: (_module, name) => (name === "_rebuild_tensor_v2" ? rebuildTensor : stub(name)) as never },
    persistentResolver: {
      resolve: (id) => {
        const [, type, key] = id as unknown as [string, { name: string }, string];
        return { type: type.name, key } satisfies Storage as never;
      },
    },
  });
  return parser.parse(pickle);
}

/** The pickle describes a tensor as a call of `torch._utils._rebuild_tensor_v2` with these and other arguments. */
function rebuildTensor(storage: Storage, offset: number, dims: readonly number[]): PickledTensor {
  return { storage, offset, dims };
}

/** Stands for a class that the pickle names. */
function stub(name: string): () => object {
  return Object.defineProperty(() => ({}), "name", { value: name });
}

function toCheckpoint(
  path: string,
  tensors: Readonly<Record<string, PickledTensor>>,
  positions: ReadonlyMap<string, number>,
): TorchCheckpoint {
  return {
    tensor(name) {
      const tensor = tensors[name];
      const position = positions.get(tensor?.storage.key ?? "");
      if (tensor === undefined || position === undefined || tensor.storage.type !== "FloatStorage") {
        throw new Error(`${path} has no tensor ${name} in float32.`);
      }
      const { dims } = tensor;
      const count = dims.reduce((product, dim) => product * dim, 1);
      return { dims, type: "float32", offset: position + tensor.offset * FLOAT_BYTES, bytes: count * FLOAT_BYTES };
    },
  };
}
