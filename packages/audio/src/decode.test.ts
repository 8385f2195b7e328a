import { spawn } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { makeWave } from "../test/make-wave.ts";
import { Decoder } from "./decode.ts";
import type { StartProcess } from "./read-samples.ts";

const test = oncePerState(import.meta.filename);

// Each file is decoded by a process that has to start first.
vi.setConfig({ testTimeout: 120_000 });

const RECORDINGS = resolve(import.meta.dirname, "../../../test/recordings");
const RATE = 16_000;
const decoder = new Decoder();
let folder: string;
/** `speech.flac`. */
let reference: Float32Array;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "audio-decode-"));
  reference = await decode(join(RECORDINGS, "speech.flac"));
});
afterAll(async () => {
  decoder.close();
  await rm(folder, { recursive: true });
});

const never = new AbortController().signal;

async function decode(path: string, maxSeconds = 60): Promise<Float32Array> {
  const pieces: number[] = [];
  for await (const samples of decoder.decode({ path, sampleRate: RATE, maxSeconds }, never)) pieces.push(...samples);
  return Float32Array.from(pieces);
}

async function wave(name: string, options: Parameters<typeof makeWave>[0]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, makeWave(options));
  return path;
}

const processes = () => process.getActiveResourcesInfo().filter((resource) => resource === "ProcessWrap").length;
/** Processes of other tests in this worker. */
const othersProcesses = processes();

/** Counts child processes of this file that still run. */
function children(): number {
  return Math.max(0, processes() - othersProcesses);
}

test("keeps length, pitch and loudness of a tone at every sample rate", async () => {
  for (const rate of [8000, 16_000, 22_050, 48_000]) {
    const path = await wave(`${rate}.wav`, {
      rate,
      channels: 2,
      sample: (index) => 0.5 * Math.sin((2 * Math.PI * 440 * index) / rate),
    });
    const samples = await decode(path);
    expect(samples.length, String(rate)).toBe(RATE);
    const middle = samples.subarray(2000, 14_000);
    let crossings = 0;
    for (let index = 1; index < middle.length; index += 1) {
      if ((middle[index] ?? 0) >= 0 && (middle[index - 1] ?? 0) < 0) crossings += 1;
    }
    expect(crossings).toBeCloseTo(330, -1);
    expect(Math.max(...middle)).toBeCloseTo(0.5, 1);
  }
});

test("decodes one recording to the same samples from every container", async () => {
  for (const name of [
    "speech.m4a",
    "speech.aac",
    "speech.ogg",
    "speech.mkv",
    "speech.webm",
    "speech-with-picture.mp4",
  ]) {
    const samples = await decode(join(RECORDINGS, name));
    expect(Math.abs(samples.length - reference.length) / RATE, name).toBeLessThan(0.1);
    expect(correlation(samples, reference), name).toBeGreaterThan(0.8);
  }
});

test("decodes containers and codecs that the demuxer does not know", async () => {
  const firstSecond = reference.subarray(0, RATE);
  for (const name of [
    "first-second.oga",
    "first-second.aiff",
    "first-second.au",
    "first-second.caf",
    "first-second.mpg",
    "first-second-alac.m4a",
    "first-second-alac.caf",
  ]) {
    const samples = await decode(join(RECORDINGS, name));
    expect(Math.abs(samples.length - firstSecond.length) / RATE, name).toBeLessThan(0.1);
    expect(correlation(samples, firstSecond), name).toBeGreaterThan(0.9);
  }
});

/** Highest correlation over a range of shifts, because encoders prepend some samples. */
function correlation(a: Float32Array, b: Float32Array): number {
  let best = 0;
  for (let shift = -1100; shift <= 1100; shift += 1) {
    let [ab, aa, bb] = [0, 0, 0];
    for (let index = 8000; index < 20_000; index += 16) {
      const [left, right] = [a[index + shift] ?? 0, b[index] ?? 0];
      ab += left * right;
      aa += left * left;
      bb += right * right;
    }
    best = Math.max(best, ab / Math.sqrt(aa * bb));
  }
  return best;
}

test("decodes every stream of a chained Ogg file", async () => {
  const one = await readFile(join(RECORDINGS, "speech.ogg"));
  const path = join(folder, "chained.ogg");
  await writeFile(path, Buffer.concat([one, one, one]));
  const [once, samples] = [await decode(join(RECORDINGS, "speech.ogg")), await decode(path)];
  expect(samples.length / once.length).toBeCloseTo(3, 2);
  expect(correlation(samples.subarray(2 * once.length), once)).toBeGreaterThan(0.8);
});

test("decodes FLAC whose frames state the sample rate in kilohertz", async () => {
  const samples = await decode(join(RECORDINGS, "tone-12-khz.flac"));
  expect(samples.length).toBe(RATE);
  expect(Math.max(...samples.subarray(2000, 14_000))).toBeCloseTo(0.5, 1);
});

/** Makes FLAC frames of 36 bytes, each with 65,535 samples of value 16 in each of eight channels. */
function tinyFlacFrames(count: number): Buffer {
  const remainder = (bytes: readonly number[], width: number, polynomial: number) =>
    bytes.reduce((sum, byte) => {
      let rest = sum ^ (byte << (width - 8));
      for (let bit = 0; bit < 8; bit += 1) rest = (rest << 1) ^ (rest & (1 << (width - 1)) ? polynomial : 0);
      return rest & (2 ** width - 1);
    }, 0);
  const information = Buffer.alloc(34);
  information.writeUInt16BE(65_535, 0);
  information.writeUInt16BE(65_535, 2);
  information.writeBigUInt64BE((255_000n << 44n) | (7n << 41n) | (15n << 36n) | BigInt(count * 65_535), 10);
  const frames = Array.from({ length: count }, (_, index) => {
    const number = index < 128 ? [index] : [0xc0 | (index >> 6), 0x80 | (index & 63)];
    const header = [0xff, 0xf8, 0x7c, 0x78, ...number, 0xff, 0xfe, 255];
    const frame = [...header, remainder(header, 8, 0x07), ...Array.from({ length: 8 }, () => [0, 0, 16]).flat()];
    const check = remainder(frame, 16, 0x8005);
    return Buffer.from([...frame, check >> 8, check & 0xff]);
  });
  return Buffer.concat([Buffer.from("fLaC"), Buffer.from([0x80, 0, 0, 34]), information, ...frames]);
}

test("decodes a small file of many minutes in eight channels within the memory limit", async () => {
  const path = join(folder, "tiny-frames.flac");
  await writeFile(path, tinyFlacFrames(300));
  let count = 0;
  // The process is killed when it exceeds the limit, and this throws.
  for await (const samples of decoder.decode({ path, sampleRate: RATE, maxSeconds: 600 }, never))
    count += samples.length;
  expect(count / RATE).toBeCloseTo((300 * 65_535) / 255_000, 1);
});

test("decodes the file again for each iteration", async () => {
  const path = await wave("again.wav", { seconds: 1 });
  const samples = decoder.decode({ path, sampleRate: RATE, maxSeconds: 60 }, never);
  for (let round = 0; round < 2; round += 1) {
    let count = 0;
    for await (const piece of samples) count += piece.length;
    expect(count).toBe(RATE);
  }
});

test("rejects a playlist without reading the files that it names", async () => {
  const named = await wave("named.wav", { seconds: 2 });
  const playlist = join(folder, "list.m3u8");
  await writeFile(playlist, `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${named}\n#EXT-X-ENDLIST\n`);
  await expect(decode(playlist)).rejects.toMatchObject({ name: "AudioError", code: "unreadable" });
});

test("cannot read a file outside the folder of uploads", async () => {
  const inside = await wave("inside.wav", {});
  const bound = new Decoder({ folder });
  const count = async (path: string) => {
    let samples = 0;
    for await (const piece of bound.decode({ path, sampleRate: RATE, maxSeconds: 60 }, never)) samples += piece.length;
    return samples;
  };
  expect(await count(inside)).toBe(RATE);
  await expect(count(join(RECORDINGS, "speech.flac"))).rejects.toMatchObject({
    name: "AudioError",
    code: "unreadable",
  });
  bound.close();
});

test("rejects audio that is longer than the maximum", async () => {
  await expect(decode(await wave("long.wav", { seconds: 5 }), 4)).rejects.toThrow("longer than 4 seconds");
});

test.runIf(process.platform === "linux")("decodes with a new process when the spare one was killed", async () => {
  const path = await wave("fine.wav", {});
  const own = new Decoder();
  const processes = async () => {
    const names = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
    const facts = await Promise.all(names.map((name) => readFile(`/proc/${name}/stat`, "utf8").catch(() => "")));
    return facts.filter((fact) => fact.split(") ")[1]?.split(" ")[1] === String(process.pid)).map(Number.parseFloat);
  };
  const others = await processes();
  own.warm();
  const spare = (await processes()).find((id) => !others.includes(id));
  if (spare === undefined) throw new Error("no process was started");
  process.kill(spare, "SIGKILL");
  await expect.poll(processes).not.toContain(spare);
  let count = 0;
  for await (const samples of own.decode({ path, sampleRate: RATE, maxSeconds: 60 }, never)) count += samples.length;
  expect(count).toBe(RATE);
  own.close();
});

test("does not wait for a process that hangs while it exits", async () => {
  const hanging = "data:text/javascript,process.exit = () => setInterval(() => {}, 1e6)";
  const startProcess: StartProcess = (program, parameters, options) =>
    spawn(program, ["--import", hanging, ...parameters], options);
  const slow = new Decoder({ startProcess });
  const options = { path: join(RECORDINGS, "speech.mp3"), sampleRate: RATE, maxSeconds: 60 };
  let length = 0;
  for await (const samples of slow.decode(options, never)) length += samples.length;
  slow.close();
  expect(length).toBe((await decode(options.path)).length);
});

test("decodes a file when no process can be started in advance", async () => {
  const path = await wave("unprepared.wav", {});
  let starts = 0;
  const startProcess: StartProcess = (...command) => {
    starts += 1;
    if (starts === 2) return spawn(...command);
    throw new Error("There are no file descriptors left.");
  };
  const bare = new Decoder({ startProcess });
  bare.warm();
  const samples = await Array.fromAsync(bare.decode({ path, sampleRate: RATE, maxSeconds: 60 }, never));
  bare.close();
  expect(samples.reduce((sum, { length }) => sum + length, 0)).toBe(RATE);
  expect(starts).toBe(3);
});

test("does not blame the file when no process can be started", async () => {
  const path = await wave("fine.wav", {});
  const decoding = new Decoder({ node: "/nowhere" }).decode({ path, sampleRate: RATE, maxSeconds: 60 }, never);
  const failure = await Array.fromAsync(decoding).catch((error) => error);
  expect(failure).toMatchObject({ name: "AudioError", code: "decoder_not_started" });
});

test("kills the process when the consumer stops or aborts", async () => {
  const path = await wave("stopped.wav", { seconds: 60 });
  for await (const samples of decoder.decode({ path, sampleRate: RATE, maxSeconds: 60 }, never)) {
    expect(samples.length).toBeGreaterThan(0);
    break;
  }
  const leaving = new AbortController();
  let decoded = 0;
  for await (const samples of decoder.decode({ path, sampleRate: RATE, maxSeconds: 60 }, leaving.signal)) {
    decoded += samples.length;
    leaving.abort();
  }
  expect(decoded).toBeLessThan(60 * RATE);
  await expect.poll(children).toBeLessThanOrEqual(1);
  decoder.close();
  await expect.poll(children).toBe(0);
});

test("decodes Apple Lossless to the same samples, and refuses cut packets", async () => {
  const expected = (await decode(join(RECORDINGS, "first-second.aiff"))).slice();
  expect(await decode(join(RECORDINGS, "first-second-alac.m4a"))).toEqual(expected);
  expect(await decode(join(RECORDINGS, "first-second-alac.caf"))).toEqual(expected);
  const bytes = await readFile(join(RECORDINGS, "first-second-alac.m4a"));
  const path = join(folder, "noise.m4a");
  // The packets, which follow the box's header, become noise; the index stays.
  const noise = bytes.fill(0xa5, bytes.indexOf("mdat") + 4, bytes.indexOf("moov") - 4);
  await writeFile(path, noise);
  await expect(decode(path)).rejects.toMatchObject({ name: "AudioError", code: "unreadable" });
});
