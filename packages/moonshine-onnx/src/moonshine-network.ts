/** Moonshine's encoder and its decoder with a key-value cache, as exported by Optimum into one merged graph. */

import { InferenceSession, Tensor } from "onnxruntime-node";
import { ModelFileError, type MoonshineFile } from "./errors.ts";

/** Shorter audio has no frame for the encoder's convolutions. */
const MIN_SAMPLES = 1600;

type Tensors = Readonly<Record<string, Tensor>>;

export class MoonshineNetwork {
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;
  readonly #emptyCache: Tensors;

  private constructor(encoder: InferenceSession, decoder: InferenceSession) {
    this.#encoder = encoder;
    this.#decoder = decoder;
    this.#emptyCache = emptyCache(decoder);
  }

  static async load(files: { encoder: string; decoder: string }, threads: number): Promise<MoonshineNetwork> {
    const options: InferenceSession.SessionOptions = {
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
      // Idle threads that spin take the core from other models.
      extra: { session: { intra_op: { allow_spinning: "0" } } },
    };
    const encoder = await create("encoder", files.encoder, options, "input_values");
    const decoder = await create("decoder", files.decoder, options, "use_cache_branch");
    return new MoonshineNetwork(encoder, decoder);
  }

  /** Encodes mono samples at 16 kHz. */
  async encode(samples: Float32Array): Promise<Tensor> {
    const padded = samples.length >= MIN_SAMPLES ? samples : new Float32Array(MIN_SAMPLES);
    if (padded !== samples) padded.set(samples);
    const results = await this.#encoder.run({ input_values: new Tensor("float32", padded, [1, padded.length]) });
    return results.last_hidden_state as Tensor;
  }

  startDecoding(encoderOutput: Tensor): DecoderState {
    return new DecoderState(this.#decoder, encoderOutput, this.#emptyCache);
  }
}

/** The key-value cache of one transcript under construction: each token is decoded once. */
export class DecoderState {
  readonly #decoder: InferenceSession;
  readonly #encoderOutput: Tensor;
  #cache: Tensors;
  #isCached = false;

  constructor(decoder: InferenceSession, encoderOutput: Tensor, emptyCache: Tensors) {
    this.#decoder = decoder;
    this.#encoderOutput = encoderOutput;
    this.#cache = emptyCache;
  }

  /** Appends a token and returns the logits of the next one. */
  async append(token: number): Promise<Float32Array> {
    const results = await this.#decoder.run({
      input_ids: new Tensor("int64", BigInt64Array.of(BigInt(token)), [1, 1]),
      encoder_hidden_states: this.#encoderOutput,
      use_cache_branch: new Tensor("bool", [this.#isCached], [1]),
      ...this.#cache,
    });
    this.#cache = Object.fromEntries(
      Object.entries(this.#cache).map(([name, previous]) => {
        // The cached branch returns no keys and values of the encoder.
        const isKept = this.#isCached && name.includes(".encoder.");
        return [name, isKept ? previous : (results[name.replace("past_key_values", "present")] as Tensor)];
      }),
    );
    this.#isCached = true;
    return results.logits?.data as Float32Array;
  }
}

async function create(
  file: MoonshineFile,
  path: string,
  options: InferenceSession.SessionOptions,
  requiredInput: string,
): Promise<InferenceSession> {
  const session = await InferenceSession.create(path, options).catch((cause: unknown) => {
    throw new ModelFileError(file, `${path} is not an ONNX model that can be run: ${String(cause)}`);
  });
  if (session.inputNames.includes(requiredInput)) return session;
  throw new ModelFileError(file, `${path} is not the ${file} of a Moonshine model: it has no input ${requiredInput}.`);
}

function emptyCache(decoder: InferenceSession): Tensors {
  const inputs = decoder.inputMetadata.filter(({ name }) => name.startsWith("past_key_values"));
  return Object.fromEntries(
    inputs.map((input) => {
      const [, heads = 0, , headSize = 0] = input.isTensor ? input.shape : [];
      return [input.name, new Tensor("float32", new Float32Array(0), [1, Number(heads), 0, Number(headSize)])];
    }),
  );
}
