/** Loudness of each voice by FFmpeg's meter (EBU R 128). Skipped where FFmpeg is not installed. */

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect } from "vitest";
import { oncePerState } from "../../../../test/support/unchanged/once-per-state.ts";
import { FliteTts } from "../flite/flite-tts.ts";
import { FLITE_VOICES } from "../flite/flite-voices.ts";
import { NeuralTts } from "../neural/neural-tts.ts";
import type { SynthesisRequest } from "../synthesis-request.ts";
import { TARGET_LUFS } from "./level-loudness.ts";

const test = oncePerState(import.meta.filename);

const HIBARI = join(
  process.env.PARLANCE_MODELS_DIR || resolve(import.meta.dirname, "../../../../.parlance/models"),
  "hibari",
);
/** Only where `parlance models pull kokoro-82m` has run. */
const KOKORO = join(HIBARI, "../kokoro-82m");
const TEXT =
  "The weather in the mountains can change within a few minutes. She had never seen the ocean before, and she stood " +
  "there without a word. Could you tell me where the nearest station is? Good morning, everyone!";

interface Tts {
  synthesize(request: SynthesisRequest, signal: AbortSignal): AsyncGenerator<Float32Array>;
}

async function loudnessOf(tts: Tts, voice: string): Promise<{ lufs: number; peak: number }> {
  const request = { text: TEXT, voice, speed: 1, maxInputCharacters: 4096, checksLanguage: true };
  const pieces = await Array.fromAsync(tts.synthesize(request, new AbortController().signal));
  const samples = Float32Array.from(pieces.flatMap((piece) => [...piece]));
  const input = ["-f", "f32le", "-ar", "24000", "-ac", "1", "-i", "pipe:0"];
  const { stderr } = spawnSync("ffmpeg", ["-nostats", ...input, "-af", "ebur128", "-f", "null", "-"], {
    input: new Uint8Array(samples.buffer),
  });
  const summary = stderr.toString().split("Summary:")[1] ?? "";
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  return { lufs: Number(/I:\s+(-?[\d.]+) LUFS/.exec(summary)?.[1]), peak };
}

describe.skipIf(spawnSync("ffmpeg", ["-version"]).status !== 0)("loudness", () => {
  test.each(FLITE_VOICES)("of flite's %s is -20 LUFS without clipping", async (voice) => {
    const { lufs, peak } = await loudnessOf(await FliteTts.open(), voice);
    expect(Math.abs(lufs - TARGET_LUFS)).toBeLessThan(1);
    expect(peak).toBeLessThan(1);
  });

  // The loudest voice, the quietest one, and a mix: others take seconds each.
  test.skipIf(!existsSync(KOKORO)).each(["af_aoede", "af_nova", "af_aoede+af_nova"])(
    "of Kokoro's %s is -20 LUFS without clipping",
    async (voice) => {
      const paths = Object.fromEntries(readdirSync(KOKORO).map((name) => [name, join(KOKORO, name)]));
      const tts = await NeuralTts.open({ paths });
      const { lufs, peak } = await loudnessOf(tts, voice);
      await tts.close();
      expect(Math.abs(lufs - TARGET_LUFS)).toBeLessThan(1);
      expect(peak).toBeLessThan(1);
    },
  );

  test("of hibari's heart is -20 LUFS without clipping", async () => {
    const paths = Object.fromEntries(readdirSync(HIBARI).map((name) => [name, join(HIBARI, name)]));
    const tts = await NeuralTts.open({ paths });
    const { lufs, peak } = await loudnessOf(tts, "heart");
    await tts.close();
    expect(Math.abs(lufs - TARGET_LUFS)).toBeLessThan(1);
    expect(peak).toBeLessThan(1);
  });
});
