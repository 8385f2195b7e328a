/** Decodes each format with FFmpeg, which most players are built on. Skipped where it is not installed. */

import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { encodeAudio } from "./encode.ts";
import { AUDIO_FORMATS, type AudioFormat, encodingDelaySeconds } from "./formats.ts";

const test = oncePerState(import.meta.filename);

const isInstalled = ["ffmpeg", "ffprobe"].every((command) => spawnSync(command, ["-version"]).status === 0);

const CODECS: Record<AudioFormat, string> = {
  mp3: "mp3",
  opus: "opus",
  aac: "aac",
  flac: "flac",
  wav: "pcm_s16le",
  pcm: "pcm_s16le",
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "audio-encode-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Yields pieces of unequal length, as a voice does. */
async function* tone(seconds: number, sampleRate: number): AsyncGenerator<Float32Array> {
  const length = Math.round(seconds * sampleRate);
  const step = Math.round(1.3 * sampleRate);
  for (let start = 0; start < length; start += step) {
    yield Float32Array.from(
      { length: Math.min(step, length - start) },
      (_, index) => 0.5 * Math.sin((2 * Math.PI * 440 * (start + index)) / sampleRate),
    );
  }
}

function run(command: string, parameters: readonly string[]): Buffer {
  const { status, stdout, stderr } = spawnSync(command, parameters, { maxBuffer: 100_000_000 });
  expect(stderr.toString()).toBe("");
  expect(status).toBe(0);
  return stdout;
}

describe.skipIf(!isInstalled).each(AUDIO_FORMATS)("FFmpeg decodes %s", (format) => {
  test.each([
    [0.4, 24_000],
    [7.77, 24_000],
    [7.77, 22_050],
  ])("of %d s at %d Hz to the same length and loudness, without warnings", async (seconds, sampleRate) => {
    const file = join(folder, `${seconds}-${sampleRate}.${format}`);
    await writeFile(file, encodeAudio(tone(seconds, sampleRate), { format, sampleRate }));
    const input = format === "pcm" ? ["-f", "s16le", "-ar", String(sampleRate), "-ac", "1", "-i", file] : ["-i", file];
    const probe = ["-v", "error", "-of", "json", "-show_entries", "stream=codec_name,channels", ...input];
    const { streams } = JSON.parse(run("ffprobe", probe).toString());
    expect(streams).toEqual([{ codec_name: CODECS[format], channels: 1 }]);
    const decoded = run("ffmpeg", ["-v", "error", ...input, "-f", "f32le", "-ar", "24000", "-ac", "1", "-"]);
    const samples = new Float32Array(new Uint8Array(decoded).buffer);
    expect(Math.abs(samples.length / 24_000 - seconds)).toBeLessThan(Math.max(0.1, 0.02 * seconds));
    const loudness = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
    expect(Math.abs(loudness - 0.5 / Math.SQRT2)).toBeLessThan(seconds < 1 ? 0.06 : 0.02);
  });

  test.each([24_000, 22_050])("as late as it is said to be at %d Hz", async (sampleRate) => {
    const file = join(folder, `late-${sampleRate}.${format}`);
    const silent = async function* () {
      yield new Float32Array(sampleRate);
      yield* tone(0.5, sampleRate);
    };
    await writeFile(file, encodeAudio(silent(), { format, sampleRate }));
    const input = format === "pcm" ? ["-f", "s16le", "-ar", String(sampleRate), "-ac", "1", "-i", file] : ["-i", file];
    const decoded = run("ffmpeg", ["-v", "error", ...input, "-f", "f32le", "-ar", "24000", "-ac", "1", "-"]);
    const onset = new Float32Array(new Uint8Array(decoded).buffer).findIndex((sample) => Math.abs(sample) > 0.2);
    expect(Math.abs(onset / 24_000 - 1 - encodingDelaySeconds(format, sampleRate))).toBeLessThan(0.003);
  });
});
