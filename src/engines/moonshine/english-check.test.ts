import { resolve } from "node:path";
import { Decoder } from "@parlance-inference/audio/decode";
import { expect, vi } from "vitest";
import { testModelStore } from "../../../test/support/models/default-model.ts";
import { oncePerState } from "../../../test/support/unchanged/once-per-state.ts";
import { EnglishCheck } from "./english-check.ts";

const test = oncePerState(import.meta.filename);

vi.setConfig({ testTimeout: 120_000 });

/** The recording, three times. */
async function speech(name: string): Promise<Float32Array> {
  const decoder = new Decoder();
  const path = resolve(import.meta.dirname, "../../../test/recordings", name);
  const order = { path, sampleRate: 16_000, maxSeconds: 60 };
  const pieces = await Array.fromAsync(decoder.decode(order, new AbortController().signal));
  decoder.close();
  const once = pieces.flatMap((piece) => [...piece]);
  return Float32Array.from([...once, ...once, ...once]);
}

async function englishCheck(action: "refuse" | "warn"): Promise<EnglishCheck> {
  const { paths } = await testModelStore().pull({ model: "whisper-base" }, { signal: new AbortController().signal });
  const path = (name: string) => paths[name] ?? "";
  const files = { weights: path("model.bin"), tokenizer: path("tokenizer.json"), config: path("config.json") };
  return new EnglishCheck(files, action, 1);
}

test("refuses or warns about another language and names it", async () => {
  const french = await speech("french.flac");
  await expect((await englishCheck("refuse")).warnings(french)).rejects.toMatchObject({
    param: "file",
    code: "unsupported_language",
    message: expect.stringMatching(/probably in French \(fr\); this model transcribes only English .*'language' = en/),
  });
  const warning = expect.stringMatching(/^The speech is probably in French \(fr\).* may be invented\.$/);
  expect(await (await englishCheck("warn")).warnings(french)).toEqual([warning]);
});

test("accepts English of any length, and speech of less than a second in any language", async () => {
  const check = await englishCheck("refuse");
  const [english, french] = [await speech("speech.flac"), await speech("french.flac")];
  for (const seconds of [9, 2.5, 2, 1.5, 1]) {
    expect(await check.warnings(english.subarray(0, seconds * 16_000)), `${seconds} s`).toEqual([]);
  }
  expect(await check.warnings(french.subarray(0, 0.9 * 16_000))).toEqual([]);
});
