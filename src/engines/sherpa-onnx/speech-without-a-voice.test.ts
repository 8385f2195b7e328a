/**
 * Matcha and Kitten in the real library, with models that have the inputs, outputs and metadata of real ones but no voice:
 * a sample's value encodes the speaker, and the number of samples the length and the speed.
 */

import { globSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { onnxFile } from "../../../test/support/models/onnx-file.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import type { SpeechModel } from "../../contracts/speech-model.ts";
import { isSherpaOnnxInstalled } from "./load-sherpa-onnx.ts";
import { sherpaOnnxSettings } from "./settings.ts";
import { sherpaOnnxEngine } from "./sherpa-onnx-engine.ts";

const [ESPEAK_DATA = ""] = globSync("/usr/{lib/*,share,lib}/espeak-ng-data");

/** Samples for each token: few, since speech of 400 ms would be leveled. */
const SAMPLES = 60;
const RATE = 16_000;
const VOICES = { anna: 0, ben: 1, cleo: 2 };

let folder: TemporaryDirectory;
beforeEach(async () => {
  folder = await temporaryDirectory();
});
afterEach(() => folder[Symbol.asyncDispose]());

async function put(name: string, content: Uint8Array | string): Promise<string> {
  const path = join(folder.path, name);
  await writeFile(path, content);
  return path;
}

const putTokens = (symbols: string) =>
  put("tokens.txt", [...symbols].map((symbol, number) => `${symbol} ${number}\n`).join(""));
const LATIN = "$^_ abdefhijklmnoprstuvwzðŋɐɑɒɔəɚɛɜɡɪɹʃʊʌʒˈˌːθ.,";

async function putKitten() {
  const speakers = new Float32Array(Object.values(VOICES).map((number) => 0.1 * (number + 1)));
  const model = onnxFile({
    metadata: {
      model_type: "kitten-tts",
      sample_rate: RATE,
      n_speakers: 3,
      has_espeak: 1,
      voice: "en-us",
      style_dim: "1,1",
    },
    inputs: { input_ids: "int64", style: "float", speed: "float" },
    constants: { samples: SAMPLES },
    nodes: [
      ["Size", ["input_ids"], "tokens"],
      ["Cast", ["tokens"], "count", { to: 1 }],
      ["Mul", ["count", "samples"], "usual"],
      ["Div", ["usual", "speed"], "length"],
      ["Cast", ["length"], "shape", { to: 7 }],
      ["Expand", ["style", "shape"], "waveform"],
    ],
    output: "waveform",
  });
  return {
    model: await put("kitten.onnx", model),
    voices: await put("voices.bin", new Uint8Array(speakers.buffer)),
    tokens: await putTokens(LATIN),
    data: ESPEAK_DATA,
  };
}

async function putMatcha(reading: Record<string, number | string>) {
  const acoustic = onnxFile({
    metadata: { model_type: "matcha-tts", sample_rate: RATE, n_speakers: 3, use_eos_bos: 1, pad_id: 0, ...reading },
    inputs: { x: "int64", x_length: "int64", noise_scale: "float", length_scale: "float", sid: "int64" },
    constants: { samples: SAMPLES, one: 1 },
    nodes: [
      ["Cast", ["x_length"], "count", { to: 1 }],
      ["Mul", ["count", "samples"], "usual"],
      ["Mul", ["usual", "length_scale"], "length"],
      ["Cast", ["length"], "frames", { to: 7 }],
      ["Cast", ["sid"], "speaker", { to: 1 }],
      ["Add", ["speaker", "one"], "ordinal"],
      ["Mul", ["ordinal", "noise_scale"], "loudness"],
      ["Expand", ["loudness", "frames"], "mel"],
    ],
    output: "mel",
  });
  const vocoder = onnxFile({
    metadata: { model_type: "hifigan" },
    inputs: { mel: "float" },
    constants: { tenth: 0.1 },
    nodes: [["Mul", ["mel", "tenth"], "audio"]],
    output: "audio",
  });
  return { model: await put("matcha.onnx", acoustic), vocoder: await put("vocoder.onnx", vocoder) };
}

/** The library's default noise, which is not configured, equals the level of Matcha's speakers. */
const NOISE = 0.667;

const CASES = [
  {
    name: "kitten",
    family: "kitten",
    loudness: 0.1,
    words: "hello",
    needs: ESPEAK_DATA,
    putFiles: putKitten,
  },
  {
    name: "matcha with phonemes",
    family: "matcha",
    loudness: 0.1 * NOISE,
    words: "hello",
    needs: ESPEAK_DATA,
    putFiles: async () => ({
      ...(await putMatcha({ has_espeak: 1, voice: "en-us" })),
      tokens: await putTokens(LATIN),
      data: ESPEAK_DATA,
    }),
  },
  {
    name: "matcha with a lexicon",
    family: "matcha",
    loudness: 0.1 * NOISE,
    words: "你好",
    needs: "nothing",
    putFiles: async () => ({
      ...(await putMatcha({ jieba: 1 })),
      tokens: await put("tokens.txt", "_ 0\n^ 1\n$ 2\nn 3\ni3 4\nh 5\nao3 6\n, 7\n. 8\n"),
      lexicon: await put("lexicon.txt", "你 n i3\n好 h ao3\n"),
    }),
  },
];

describe.skipIf(!isSherpaOnnxInstalled()).each(CASES)("$name", ({ family, loudness, words, needs, putFiles }) => {
  async function open(settings: object = {}): Promise<SpeechModel> {
    const parsed = sherpaOnnxSettings.parse({ family, files: await putFiles(), threads: 1, ...settings });
    return (await sherpaOnnxEngine.open(parsed, "speech", makeEngineServices())) as SpeechModel;
  }

  async function say(model: SpeechModel, { text = words, voice = "0", speed = 1 } = {}): Promise<Float32Array> {
    const request = { model: "m", text, voice, speed, instructions: undefined };
    const pieces = await Array.fromAsync(model.speak(request, new AbortController().signal));
    expect(pieces).toHaveLength(1);
    return pieces.find((event) => event instanceof Float32Array) ?? new Float32Array();
  }

  const middleOf = (samples: Float32Array) => samples[samples.length >> 1];

  test.skipIf(needs === "")("uses the requested speaker and speed", async () => {
    const model = await open();
    try {
      expect(model.sampleRate).toBe(RATE);
      expect(model.wordTimes).toBe(false);
      expect(model.voices).toEqual(["0", "1", "2"]);
      const usual = await say(model);
      expect(usual.every(Number.isFinite)).toBe(true);
      expect(usual.length % SAMPLES).toBe(0);
      expect(usual.length / SAMPLES).toBeGreaterThan(3);
      for (const [number, voice] of ["0", "1", "2"].entries())
        expect(middleOf(await say(model, { voice }))).toBeCloseTo(loudness * (number + 1), 4);
      expect((await say(model, { speed: 2 })).length).toBe(usual.length / 2);
      expect((await say(model, { speed: 0.25 })).length).toBe(usual.length * 4);
      expect((await say(model, { text: `${words} ${words} ${words}` })).length).toBeGreaterThan(usual.length * 1.5);
    } finally {
      await model.close();
    }
  });

  test.skipIf(needs === "")("offers only the configured voice names", async () => {
    const model = await open({ voices: VOICES });
    try {
      expect(model.voices).toEqual(["anna", "ben", "cleo"]);
      expect(middleOf(await say(model, { voice: "cleo" }))).toBeCloseTo(loudness * 3, 4);
      await expect(say(model, { voice: "0" })).rejects.toThrow(/no voice "0".*anna/);
    } finally {
      await model.close();
    }
    await expect(open({ voices: { dora: 3 } })).rejects.toThrow("voices.dora: the model has no speaker 3");
  });
});
