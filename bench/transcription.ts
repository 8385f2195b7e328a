/**
 * Speed, memory and word error rate of a transcription model:
 * `node bench/transcription.ts [folder] [model] [minutes]`.
 *
 * The folder contains 16 kHz mono WAV files and a file `transcription` with a line `<s> words </s> (name)` for each, as in
 * the Debian package pocketsphinx-testdata, whose path is the default. Longer recordings are concatenated from these.
 */

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import numberToWords from "number-to-words";
import { parseEvents } from "../src/kernel/server-sent-events.ts";
import { MANIFEST } from "../src/model-store/manifest/manifest.ts";
import { wordErrors, wordsOf } from "../test/support/models/word-errors.ts";
import { startServiceProcess } from "../test/support/service/service-process.ts";

const FOLDER = process.argv[2] ?? "/usr/share/pocketsphinx/test/data/librivox";
const MODEL = process.argv[3] ?? "moonshine-base-en";
const ENGINE = MANIFEST.find(({ id }) => id === MODEL)?.engine;
const LONG_SECONDS = Number(process.argv[4] ?? 60) * 60;
const RATE = 16_000;
const HEADER_BYTES = 44;
const PAUSE_SECONDS = 0.6;
/** Clock ticks per second in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

const service = await startServiceProcess({
  config: `
builtin_models: false
server: { max_upload_bytes: 1000000000, request_timeout_seconds: 7200 }
models: [{ id: m, task: transcription, deployments: [{ engine: ${ENGINE}, model: ${MODEL} }] }]
`,
});
try {
  await untilLoaded();
  await mistakes();
  console.log("\nlength   at once   seconds   real-time factor   first text   CPU per second   service MB   model MB");
  for (const [seconds, atOnce] of [
    [5, 1],
    [5, 4],
    [60, 1],
    [60, 4],
    [LONG_SECONDS, 1],
  ] as const) {
    await speed(seconds, atOnce);
  }
} finally {
  await service.stop();
}

interface Transcribed {
  text: string;
  seconds: number;
  firstSeconds: number;
}

async function transcribe(file: Buffer): Promise<Transcribed> {
  const form = new FormData();
  form.append("model", "m");
  form.append("stream", "true");
  form.append("file", new Blob([new Uint8Array(file)]), "recording.wav");
  const beganAt = performance.now();
  const response = await service.fetch("/v1/audio/transcriptions", { method: "POST", body: form });
  if (!response.ok || response.body === null) throw new Error(await response.text());
  let firstSeconds: number | undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) {
    firstSeconds ??= (performance.now() - beganAt) / 1000;
    chunks.push(chunk);
  }
  const events = parseEvents(Buffer.concat(chunks));
  const done = events.find(({ data }) => data.includes('"transcript.text.done"'));
  if (done === undefined) throw new Error(events.at(-1)?.data);
  const { text } = JSON.parse(done.data) as { text: string };
  return { text, seconds: (performance.now() - beganAt) / 1000, firstSeconds: firstSeconds ?? Number.NaN };
}

/** Word error rate: substitutions, deletions and insertions per reference word. */
async function mistakes(): Promise<void> {
  let words = 0;
  let wrong = 0;
  for (const [, reference = "", name = ""] of readFileSync(join(FOLDER, "transcription"), "utf8").matchAll(
    /<s> (.*?) <\/s> \((.*)\)/g,
  )) {
    const { text } = await transcribe(readFileSync(join(FOLDER, `${name}.wav`)));
    const [expected, transcript] = [spelledOut(reference), spelledOut(text)];
    const errors = wordErrors(expected, transcript);
    words += wordsOf(expected).length;
    wrong += errors;
    if (errors > 0) console.log(`${basename(name)}: ${errors}\n  ${expected}\n  ${transcript}`);
  }
  console.log(`${MODEL}: ${wrong} of ${words} words wrong, ${((100 * wrong) / words).toFixed(1)} %`);
}

/** Normalizes text to the form of the references. */
function spelledOut(text: string): string {
  const numbers = text.replace(/\d+/g, (digits) => numberToWords.toWords(Number(digits)).replaceAll("-", " "));
  return numbers.toLowerCase().replace(/\bmr\b\.?/g, "mister");
}

async function speed(seconds: number, atOnce: number): Promise<void> {
  const file = joined(seconds);
  const before = cpuSeconds();
  const peak = watchMemory();
  const transcript = await Promise.all(Array.from({ length: atOnce }, () => transcribe(file)));
  const { service: serviceMegabytes, model } = peak();
  const slowest = Math.max(...transcript.map((each) => each.seconds));
  const first = Math.max(...transcript.map((each) => each.firstSeconds));
  const columns = [
    `${seconds} s`,
    atOnce,
    slowest.toFixed(2),
    (slowest / (seconds * atOnce)).toFixed(3),
    `${first.toFixed(2)} s`,
    ((cpuSeconds() - before) / (seconds * atOnce)).toFixed(3),
    serviceMegabytes,
    model,
  ];
  console.log(columns.map((column) => String(column).padStart(9)).join("  "));
}

function joined(seconds: number): Buffer {
  const pause = Buffer.alloc(2 * Math.round(PAUSE_SECONDS * RATE));
  const recordings = readdirSync(FOLDER)
    .filter((name) => name.endsWith(".wav"))
    .map((name) => readFileSync(join(FOLDER, name)));
  const [first] = recordings;
  if (first === undefined) throw new Error(`No recordings in ${FOLDER}`);
  const round = Buffer.concat(recordings.flatMap((file) => [file.subarray(HEADER_BYTES), pause]));
  const data = Buffer.alloc(2 * RATE * seconds, round);
  const header = Buffer.from(first.subarray(0, HEADER_BYTES));
  header.writeUInt32LE(data.length + HEADER_BYTES - 8, 4);
  header.writeUInt32LE(data.length, HEADER_BYTES - 4);
  return Buffer.concat([header, data]);
}

async function untilLoaded(): Promise<void> {
  for (;;) {
    try {
      await transcribe(joined(2));
      return;
    } catch (failure) {
      if (!String(failure).includes("model_loading")) throw failure;
      await new Promise((resume) => setTimeout(resume, 500));
    }
  }
}

/** The service's process and its children. */
function processes(): { pid: number; isService: boolean }[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  const children = all.filter((pid) => status(Number(pid)).includes(`PPid:\t${service.process.pid}\n`));
  return [
    { pid: service.process.pid ?? 0, isService: true },
    ...children.map((pid) => ({ pid: Number(pid), isService: false })),
  ];
}

function status(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return "";
  }
}

/** User and system time of the service and its model; decoding processes that have exited count toward the service. */
function cpuSeconds(): number {
  let ticks = 0;
  for (const { pid } of processes()) {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  }
  return ticks / TICKS_PER_SECOND;
}

function watchMemory(): () => { service: number; model: number } {
  const peak = { service: 0, model: 0 };
  const look = () => {
    for (const { pid, isService } of processes()) {
      const megabytes = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status(pid))?.[1] ?? 0) / 1000);
      const key = isService ? "service" : "model";
      peak[key] = Math.max(peak[key], megabytes);
    }
  };
  const timer = setInterval(look, 200);
  return () => {
    look();
    clearInterval(timer);
    return peak;
  };
}
