/**
 * Compares voices: synthesizes fifty sentences and transcribes them with the service's transcription model. Prints one row
 * per voice; sentences with a different transcript go to standard error.
 *
 *   node bench/speech-candidates.ts [--piper VOICE.onnx --espeak-data FOLDER] [--only ID] [--voice NAME]
 *
 * Linux only: CPU time is read from /proc.
 */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { toFile } from "openai";
import { wordErrors, wordsOf } from "../test/support/models/word-errors.ts";
import { type ServiceProcess, startServiceProcess } from "../test/support/service/service-process.ts";
import { knownVoices, median, toModelConfig } from "./speech-voices.ts";

const { values: options } = parseArgs({
  options: {
    piper: { type: "string" },
    "espeak-data": { type: "string" },
    only: { type: "string" },
    voice: { type: "string", default: "alloy" },
  },
});
const TRANSCRIPTION = "moonshine-base-en";
const CLOCK_TICKS_PER_SECOND = 100;

const voices = (await knownVoices(options)).filter(({ id }) => options.only === undefined || id === options.only);

const sentences = (await readFile(join(import.meta.dirname, "speech-sentences.txt"), "utf8")).trim().split("\n");
const wordCount = sentences.flatMap((sentence) => wordsOf(sentence)).length;

/** CPU seconds of a model's process. */
async function coreSeconds(service: ServiceProcess, model: string): Promise<number> {
  for (const pid of (await readdir("/proc")).filter((name) => /^\d+$/.test(name))) {
    const [command, status] = await Promise.all(
      ["cmdline", "stat"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
    );
    const fields = status?.slice(status.lastIndexOf(")") + 2).split(" ") ?? [];
    if (!command?.startsWith(`parlance ${model}`) || Number(fields[1]) !== service.process.pid) continue;
    return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
  }
  throw new Error(`${model} has no process`);
}

function secondsOf(wave: Buffer): number {
  return (wave.length - 44) / wave.readUInt32LE(28);
}

console.log(
  "| model | voices | MB | license | first byte (ms) | real-time factor | core-seconds a second | words wrong |",
);
console.log("|---|---|---|---|---|---|---|---|");
for (const each of voices) {
  const { id, megabytes, license } = each;
  const service = await startServiceProcess({
    config: `builtin_models: false
models:
${toModelConfig(each)}  - { id: ${TRANSCRIPTION}, task: transcription, deployments: [{ engine: moonshine, model: ${TRANSCRIPTION} }] }
`,
  });
  try {
    const client = service.client({ maxRetries: 20 });
    const speak = async (input: string) => {
      const began = performance.now();
      const body = { model: id, voice: options.voice, input, response_format: "wav" } as const;
      const response = await client.audio.speech.create(body);
      const pieces: Uint8Array[] = [];
      let firstByteMs = Number.NaN;
      for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
        if (pieces.length === 0) firstByteMs = performance.now() - began;
        pieces.push(piece);
      }
      return { wave: Buffer.concat(pieces), firstByteMs, tookSeconds: (performance.now() - began) / 1000 };
    };
    await speak("Warm up.");
    let errors = 0;
    let audioSeconds = 0;
    let busySeconds = 0;
    const factors: number[] = [];
    const firstBytes: number[] = [];
    for (const sentence of sentences) {
      const before = await coreSeconds(service, id);
      const { wave, firstByteMs, tookSeconds } = await speak(sentence);
      busySeconds += (await coreSeconds(service, id)) - before;
      audioSeconds += secondsOf(wave);
      factors.push(tookSeconds / secondsOf(wave));
      firstBytes.push(firstByteMs);
      const file = await toFile(wave, "spoken.wav");
      const { text } = await client.audio.transcriptions.create({ model: TRANSCRIPTION, file });
      const wrong = wordErrors(sentence, text);
      errors += wrong;
      if (wrong > 0) console.error(`${id} ${wrong}  said:  ${sentence}\n  heard: ${text}`);
    }
    const { data } = (await (await service.fetch(`/v1/audio/voices?model=${id}`)).json()) as {
      data: { id: string; voice: string }[];
    };
    const voiceCount = new Set(data.map(({ voice }) => voice)).size;
    const [fastest = Number.NaN] = factors.toSorted((a, b) => a - b);
    const cells = [
      id,
      voiceCount,
      Math.round(megabytes),
      license,
      Math.round(median(firstBytes)),
      `${median(factors).toFixed(3)} (best ${fastest.toFixed(3)})`,
      (busySeconds / audioSeconds).toFixed(3),
      `${errors} of ${wordCount}, ${((100 * errors) / wordCount).toFixed(1)} %`,
    ];
    console.log(`| ${cells.join(" | ")} |`);
  } finally {
    await service.stop();
  }
}
