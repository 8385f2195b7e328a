import { execFileSync, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, vi } from "vitest";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { makeWave } from "../test/make-wave.ts";
import { Decoder } from "./decode.ts";
import { checkFfmpeg } from "./ffmpeg-decoder.ts";

const test = oncePerState(import.meta.filename);

// Each file is decoded by a process that has to start first.
vi.setConfig({ testTimeout: 120_000 });

const HAS_FFMPEG = spawnSync("ffmpeg", ["-version"]).status === 0;
const SPEECH = resolve(import.meta.dirname, "../../../test/recordings/speech.flac");
const RATE = 16_000;
const never = new AbortController().signal;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "audio-ffmpeg-"));
});
const decoders = [new Decoder({ ffmpeg: "ffmpeg" }), new Decoder()] as const;
const [withFfmpeg, without] = decoders;
afterAll(async () => {
  for (const decoder of decoders) decoder.close();
  await rm(folder, { recursive: true });
});

async function count(decoder: Decoder, path: string, maxSeconds = 60): Promise<number> {
  let samples = 0;
  for await (const piece of decoder.decode({ path, sampleRate: RATE, maxSeconds }, never)) samples += piece.length;
  return samples;
}

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** Counts child processes that still run. */
const processes = () => process.getActiveResourcesInfo().filter((resource) => resource === "ProcessWrap").length;
/** Processes of other tests in this worker. */
const othersProcesses = processes();
const children = () => Math.max(0, processes() - othersProcesses);

test.each(["/nowhere/ffmpeg", "echo"])("reports that %s is not a usable FFmpeg", async (name) => {
  await expect(checkFfmpeg(name)).rejects.toMatchObject({
    name: "AudioError",
    code: "ffmpeg_not_usable",
  });
});

test.skipIf(HAS_FFMPEG)("skips decoding with FFmpeg, which is not installed", ({ skip }) => skip());

describe.skipIf(!HAS_FFMPEG)("with FFmpeg", () => {
  test.each([
    ["wma", ["-c:a", "wmav2"]],
    ["ac3", ["-c:a", "ac3"]],
    ["avi", ["-c:a", "mp2"]],
  ])("decodes %s, which is unreadable without FFmpeg", async (ending, codec) => {
    const path = join(folder, `speech.${ending}`);
    execFileSync("ffmpeg", ["-v", "error", "-y", "-i", SPEECH, ...codec, path]);
    await checkFfmpeg("ffmpeg");
    expect((await count(withFfmpeg, path)) / RATE).toBeCloseTo(3, 0);
    await expect(count(without, path)).rejects.toMatchObject({ name: "AudioError", code: "unreadable" });
  });

  test("rejects playlists and files that are not audio", async () => {
    const wave = await file("other.wav", makeWave({ seconds: 2 }));
    for (const [name, content] of [
      ["list.m3u8", `#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\n${wave}\n#EXT-X-ENDLIST\n`],
      ["list.ffconcat", `ffconcat version 1.0\nfile ${wave}\n`],
      ["text.mp3", "This is not audio. ".repeat(1000)],
      ["nothing.wma", ""],
    ] as const) {
      await expect(count(withFfmpeg, await file(name, content)), name).rejects.toMatchObject({ code: "unreadable" });
    }
  });

  test("rejects audio longer than the maximum, and decodes the available part of a truncated file", async () => {
    const path = join(folder, "long.wma");
    const wave = await file("long.wav", makeWave({ seconds: 20 }));
    execFileSync("ffmpeg", ["-v", "error", "-y", "-i", wave, "-c:a", "wmav2", path]);
    await expect(count(withFfmpeg, path, 10)).rejects.toThrow("longer than 10 seconds");
    const complete = await readFile(path);
    const half = await file("half.wma", complete.subarray(0, complete.length / 2));
    const seconds = (await count(withFfmpeg, half)) / RATE;
    expect(seconds).toBeGreaterThan(5);
    expect(seconds).toBeLessThan(15);
  });

  test("kills FFmpeg when the consumer aborts", async () => {
    const path = join(folder, "left.wma");
    const wave = await file("left.wav", makeWave({ seconds: 300 }));
    execFileSync("ffmpeg", ["-v", "error", "-y", "-i", wave, "-c:a", "wmav2", path]);
    const leaving = new AbortController();
    let decoded = 0;
    for await (const samples of withFfmpeg.decode({ path, sampleRate: RATE, maxSeconds: 600 }, leaving.signal)) {
      decoded += samples.length;
      leaving.abort();
    }
    expect(decoded).toBeLessThan(300 * RATE);
    withFfmpeg.close();
    without.close();
    await expect.poll(children).toBe(0);
  });
});
