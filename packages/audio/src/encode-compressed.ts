import { once } from "node:events";
import { PassThrough } from "node:stream";
import { registerAacEncoder } from "@mediabunny/aac-encoder";
import { registerFlacEncoder } from "@mediabunny/flac-encoder";
import { registerMp3Encoder } from "@mediabunny/mp3-encoder";
import {
  AdtsOutputFormat,
  type AudioEncodingConfig,
  AudioSample,
  AudioSampleSource,
  BufferTarget,
  FlacOutputFormat,
  Mp3OutputFormat,
  OggOutputFormat,
  Output,
  type OutputFormat,
  registerEncoder,
  StreamTarget,
  type StreamTargetChunk,
} from "mediabunny";
import type { AudioFormat } from "./formats.ts";
import { OPUS_SAMPLE_RATE, OpusEncoder } from "./opus-encoder.ts";

type CompressedFormat = Exclude<AudioFormat, "wav" | "pcm">;

export interface CompressOptions {
  format: CompressedFormat;
  sampleRate: number;
  isSeekable: boolean;
}

interface Compression {
  /** Unless seekable, it is append-only: its bytes can be sent as they are written. */
  container: (options: CompressOptions) => OutputFormat;
  encoding: AudioEncodingConfig;
}

const COMPRESSIONS: Record<CompressedFormat, Compression> = {
  mp3: {
    container: () => new Mp3OutputFormat({ xingHeader: false }),
    encoding: { codec: "mp3", bitrate: 96_000 },
  },
  aac: {
    container: () => new AdtsOutputFormat(),
    encoding: { codec: "aac", bitrate: 96_000 },
  },
  flac: {
    container: ({ isSeekable }) => new FlacOutputFormat({ appendOnly: !isSeekable }),
    encoding: { codec: "flac" },
  },
  opus: {
    container: () => new OggOutputFormat({ maximumPageDuration: 0.2 }),
    encoding: { codec: "opus", bitrate: 48_000 },
  },
};

registerMp3Encoder();
registerAacEncoder();
registerFlacEncoder();
registerEncoder(OpusEncoder);

/** Long enough for the encoders to work well, short enough that cancelling does not wait for them. */
const STEP_SECONDS = 1;

/** Encodes in worker threads: bytes arrive while the next samples are still being made. */
export async function* encodeCompressed(
  samples: AsyncIterable<Float32Array>,
  options: CompressOptions,
): AsyncGenerator<Uint8Array> {
  const { format, sampleRate } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const bytes = new PassThrough();
  const target = new StreamTarget(
    new WritableStream<StreamTargetChunk>({
      write: async ({ data }) => {
        if (!bytes.write(data.slice())) await once(bytes, "drain", { signal });
      },
    }),
  );
  const output = new Output({ format: COMPRESSIONS[format].container(options), target });
  const source = new AudioSampleSource(encodingOf(format, sampleRate));
  output.addAudioTrack(source);
  const feeding = feed(samples, { output, source, sampleRate, signal }).then(
    () => bytes.end(),
    (failure: Error) => bytes.destroy(failure),
  );
  try {
    yield* bytes;
    await feeding;
  } finally {
    stopping.abort();
    bytes.destroy();
    // Ends the encoder's thread. The second close of a target that was already written to throws harmlessly.
    if (output.state !== "finalized") await output.cancel().catch(() => {});
  }
}

/**
 * Encodes to a file whose header states its length. Libraries that read a file at once need it: libsndfile takes an
 * unknown length for the largest possible one.
 */
export async function* encodeSeekable(
  samples: AsyncIterable<Float32Array>,
  options: CompressOptions,
): AsyncGenerator<Uint8Array> {
  const { format, sampleRate } = options;
  const target = new BufferTarget();
  const output = new Output({ format: COMPRESSIONS[format].container(options), target });
  const source = new AudioSampleSource(encodingOf(format, sampleRate));
  output.addAudioTrack(source);
  try {
    await feed(samples, { output, source, sampleRate });
    if (target.buffer !== null) yield new Uint8Array(target.buffer);
  } finally {
    // Ends the encoder's thread.
    if (output.state !== "finalized") await output.cancel().catch(() => {});
  }
}

/** Adds resampling only for Opus at another rate, because it delays samples. */
function encodingOf(format: CompressedFormat, sampleRate: number): AudioEncodingConfig {
  const { encoding } = COMPRESSIONS[format];
  if (format !== "opus" || sampleRate === OPUS_SAMPLE_RATE) return encoding;
  return { ...encoding, transform: { sampleRate: OPUS_SAMPLE_RATE } };
}

interface Feed {
  output: Output;
  source: AudioSampleSource;
  sampleRate: number;
  signal?: AbortSignal;
}

async function feed(samples: AsyncIterable<Float32Array>, { output, source, sampleRate, signal }: Feed): Promise<void> {
  await output.start();
  let position = 0;
  for await (const piece of samples) {
    for (const step of inSteps(piece, Math.round(STEP_SECONDS * sampleRate))) {
      if (signal?.aborted) return;
      const timestamp = position / sampleRate;
      const sample = new AudioSample({ data: step, format: "f32", numberOfChannels: 1, sampleRate, timestamp });
      position += step.length;
      await source.add(sample);
      sample.close();
    }
  }
  if (!signal?.aborted) await output.finalize();
}

function* inSteps(samples: Float32Array, length: number): Generator<Float32Array> {
  for (let start = 0; start < samples.length; start += length) yield samples.subarray(start, start + length);
}
