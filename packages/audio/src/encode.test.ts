import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from "mediabunny";
import { MPEGDecoder } from "mpg123-decoder";
import { OpusDecoder } from "opus-decoder";
import { describe, expect } from "vitest";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { encodeAudio } from "./encode.ts";
import { toPcm16 } from "./encode-pcm.ts";
import { AUDIO_FORMATS, type AudioFormat, audioContentType } from "./formats.ts";

const test = oncePerState(import.meta.filename);

const RATE = 24_000;
const SECONDS = 3;

async function* tone(seconds: number, sampleRate = RATE): AsyncGenerator<Float32Array> {
  for (let second = 0; second < seconds; second += 1) {
    yield Float32Array.from(
      { length: sampleRate },
      (_, index) => 0.5 * Math.sin((2 * Math.PI * 440 * (second * sampleRate + index)) / sampleRate),
    );
  }
}

async function encode(format: AudioFormat, sampleRate = RATE, seconds = SECONDS): Promise<Uint8Array<ArrayBuffer>> {
  const bytes: Uint8Array[] = [];
  for await (const piece of encodeAudio(tone(seconds, sampleRate), { format, sampleRate })) bytes.push(piece);
  return Uint8Array.from(Buffer.concat(bytes));
}

/** Measures length and loudness with independent decoders. */
const DECODERS: Record<
  AudioFormat,
  (bytes: Uint8Array<ArrayBuffer>) => Promise<{ seconds: number; loudness?: number }>
> = {
  mp3: async (bytes) => {
    const decoder = new MPEGDecoder();
    await decoder.ready;
    const { samplesDecoded, sampleRate, channelData } = decoder.decode(bytes);
    decoder.free();
    return { seconds: samplesDecoded / sampleRate, loudness: loudness(channelData[0]) };
  },
  flac: async (bytes) => {
    const decoder = new FLACDecoder();
    await decoder.ready;
    const { samplesDecoded, sampleRate, channelData } = await decoder.decodeFile(bytes);
    decoder.free();
    return { seconds: samplesDecoded / sampleRate, loudness: loudness(channelData[0]) };
  },
  opus: async (bytes) => {
    const packets = await packetsOf(bytes);
    const decoder = new OpusDecoder({ channels: 1 });
    await decoder.ready;
    const { samplesDecoded, sampleRate, channelData } = decoder.decodeFrames(packets.map((packet) => packet.data));
    decoder.free();
    return { seconds: samplesDecoded / sampleRate, loudness: loudness(channelData[0]) };
  },
  aac: async (bytes) => {
    const packets = await packetsOf(bytes);
    return { seconds: packets.reduce((sum, packet) => sum + packet.duration, 0) };
  },
  wav: async (bytes) => {
    const view = new DataView(bytes.buffer);
    expect(Buffer.from(bytes.subarray(0, 4)).toString()).toBe("RIFF");
    expect(Buffer.from(bytes.subarray(36, 40)).toString()).toBe("data");
    return { seconds: (bytes.length - 44) / view.getUint32(28, true), loudness: loudness16(bytes.subarray(44)) };
  },
  pcm: async (bytes) => ({ seconds: bytes.length / 2 / RATE, loudness: loudness16(bytes) }),
};

async function packetsOf(bytes: Uint8Array<ArrayBuffer>) {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const track = await input.getPrimaryAudioTrack();
  if (track === null) throw new Error("no audio track");
  return Array.fromAsync(new EncodedPacketSink(track).packets());
}

function loudness(samples: Float32Array | undefined): number {
  if (samples === undefined) throw new Error("no channel");
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

function loudness16(bytes: Uint8Array): number {
  return loudness(Float32Array.from(new Int16Array(bytes.slice().buffer), (sample) => sample / 32_767));
}

test("states the length of a WAV recording that is complete at once, and 0xFFFFFFFF for one that is not", async () => {
  const complete = Buffer.from(await encode("wav"));
  expect(complete.readUInt32LE(40)).toBe(complete.length - 44);
  expect(complete.readUInt32LE(4)).toBe(complete.length - 8);
  const headed = Promise.withResolvers<void>();
  async function* slow() {
    yield* tone(1);
    await headed.promise;
    yield* tone(1);
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of encodeAudio(slow(), { format: "wav", sampleRate: RATE })) {
    pieces.push(piece);
    headed.resolve();
  }
  const bytes = Buffer.concat(pieces);
  expect(bytes.readUInt32LE(40)).toBe(0xffff_ffff);
  expect(bytes.length).toBe(44 + 2 * 2 * RATE);
  const empty = Buffer.from(await encode("wav", RATE, 0));
  expect([empty.length, empty.readUInt32LE(40)]).toEqual([44, 0]);
});

test("states the length of a WAV recording whose source computes for long without waiting", async () => {
  async function* computing() {
    yield* tone(1);
    const { user, system } = process.cpuUsage();
    const usedMs = () => {
      const used = process.cpuUsage();
      return (used.user + used.system - user - system) / 1000;
    };
    while (usedMs() < 60);
    yield* tone(1);
  }
  const bytes = Buffer.concat(await Array.fromAsync(encodeAudio(computing(), { format: "wav", sampleRate: RATE })));
  expect(bytes.readUInt32LE(40)).toBe(bytes.length - 44);
});

test("begins a long WAV recording whose source never waits before it is complete", async () => {
  let isComplete = false;
  async function* samples() {
    yield* tone(60);
    isComplete = true;
  }
  for await (const header of encodeAudio(samples(), { format: "wav", sampleRate: RATE })) {
    expect([Buffer.from(header).readUInt32LE(40), isComplete]).toEqual([0xffff_ffff, false]);
    break;
  }
});

describe.each(AUDIO_FORMATS)("%s", (format) => {
  test("decodes to the same length and loudness", async () => {
    const decoded = await DECODERS[format](await encode(format));
    expect(Math.abs(decoded.seconds - SECONDS)).toBeLessThan(0.1);
    if (decoded.loudness !== undefined) expect(Math.abs(decoded.loudness - 0.5 / Math.SQRT2)).toBeLessThan(0.03);
  });

  test("encodes samples of another rate", async () => {
    const bytes = await encode(format, 22_050);
    if (format === "pcm") expect(bytes.length).toBe(22_050 * 2 * SECONDS);
    else expect(Math.abs((await DECODERS[format](bytes)).seconds - SECONDS)).toBeLessThan(0.1);
  });

  test("yields bytes of the first sentence before it receives the second", async () => {
    const held = Promise.withResolvers<void>();
    async function* samples() {
      yield* tone(2);
      await held.promise;
      yield* tone(2);
    }
    let received = 0;
    for await (const piece of encodeAudio(samples(), { format, sampleRate: RATE })) {
      received += piece.length;
      // More than 0.75 s at the lowest bit rate; the rest is the encoder's lookahead.
      if (received > 4000) held.resolve();
    }
    expect(received).toBeGreaterThan(8000);
  });

  test("stops requesting samples when the consumer returns early", async () => {
    let isOver = false;
    async function* samples() {
      try {
        for (;;) yield* tone(1);
      } finally {
        isOver = true;
      }
    }
    for await (const piece of encodeAudio(samples(), { format, sampleRate: RATE })) {
      if (piece.length > 44) break;
    }
    await expect.poll(() => isOver).toBe(true);
  });

  test("throws the error of the source of samples", async () => {
    async function* samples() {
      yield* tone(1);
      throw new Error("out of voice");
    }
    const reading = Array.fromAsync(encodeAudio(samples(), { format, sampleRate: RATE }));
    await expect(reading).rejects.toThrow("out of voice");
  });
});

test("names a PCM rate other than 24 kHz in the content type", () => {
  expect(audioContentType("pcm", 24_000)).toBe("audio/pcm");
  expect(audioContentType("pcm", 22_050)).toBe("audio/pcm; rate=22050");
});

test("clips samples beyond full scale", () => {
  expect([...new Int16Array(toPcm16(Float32Array.of(-2, -1, 0, 1, 2)).buffer)]).toEqual([
    -32767, -32767, 0, 32767, 32767,
  ]);
});
