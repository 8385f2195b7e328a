/**
 * CPU time and durations of local engines beside the libraries that a user would run instead, on the same weights and
 * two threads each, by turns: `node bench/engines/engines.ts PYTHON [ROUNDS [NAME…]]`, with the names of workloads, such as `chat`.
 *
 * PYTHON has what `peers.py` needs. With LLAMA_SERVER (`scripts/build-llama-server.sh`), chats are compared as well.
 * Parlance's figures contain HTTP, the service's process and its models' processes. Models in `.parlance/models`:
 * moderation-minilm, kokoro-82m, whisper-base, hibari (which speaks the recording) and qwen2.5-coder-1.5b-instruct.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { bertGraph } from "../../packages/sentence-embeddings/src/bert-graph.ts";
import { SafetensorsIndex } from "../../packages/sentence-embeddings/src/safetensors-index.ts";
import { startServiceProcess } from "../../test/support/service/service-process.ts";
import { median } from "../timing.ts";
import { startLlamaServer } from "./llama-server-peer.ts";
import { treeCpuSeconds } from "./process-cpu.ts";

const [python = "python3", rounds = "5", ...names] = process.argv.slice(2);
const MODELS = process.env.PARLANCE_MODELS_DIR ?? ".parlance/models";
const THREADS = 2;

/** One caller's work, given as `inputs` that `atOnce` callers send. */
interface Workload {
  name: string;
  peer: string;
  atOnce: number;
  inputs: unknown[];
}

interface Subject {
  pid: number;
  /** Milliseconds of each input. */
  run(workload: Workload): Promise<number[]>;
}

const folder = await mkdtemp(join(tmpdir(), "parlance-engines-"));
const children: ChildProcess[] = [];
const service = await startServiceProcess({
  // JSON is valid YAML.
  config: JSON.stringify({
    builtin_models: false,
    models: [
      model("embeddings", "embedding", {
        engine: "sentence-embeddings",
        model: "moderation-minilm",
        threads: THREADS,
      }),
      model("hibari", "speech", { engine: "kokoro", model: "hibari" }),
      model("speech", "speech", { engine: "kokoro", model: "kokoro-82m" }),
      model("transcription", "transcription", { engine: "whisper", model: "whisper-base", compute_type: "int8" }),
      model("chat", "chat", {
        engine: "llama-cpp",
        ...chatFile(),
        gpu: false,
        slots: 4,
        context_size: 2048,
        threads: THREADS,
      }),
    ],
  }),
});
try {
  console.log(`${cpus()[0]?.model}, ${cpus().length} cores, ${rounds} rounds, load ${loadavg()[0]?.toFixed(1)}`);
  console.log("| | | CPU, s: Parlance | peer | ratio | p50, ms: Parlance | peer | p95 | peer |");
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const [workload, ask, startPeer] of await workloads()) {
    if (names.length > 0 && !names.some((name) => workload.name.startsWith(name))) continue;
    const peer = await startPeer();
    if (peer === undefined) continue;
    const own: Subject = { pid: service.process.pid ?? 0, run: (each) => atOnce(each, ask) };
    console.log(await compare(workload, own, peer));
  }
} finally {
  for (const child of children) child.kill("SIGKILL");
  await service.stop();
  await rm(folder, { recursive: true });
}

function model(id: string, task: string, deployment: object): object {
  return { id, task, deployments: [deployment] };
}

function chatFile() {
  return { file: join(MODELS, "qwen2.5-coder-1.5b-instruct/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf") };
}

type Ask = (input: unknown) => Promise<unknown>;
type StartPeer = () => Promise<Subject | undefined>;

async function workloads(): Promise<[Workload, Ask, StartPeer][]> {
  const { recording, embeddings, speech, transcription } = await preparePeers();
  const embed: Ask = (input) => post("/v1/embeddings", { model: "embeddings", input, encoding_format: "float" });
  const speak: Ask = (input) =>
    post("/v1/audio/speech", { model: "speech", voice: "af_heart", input, response_format: "pcm" });
  const batches = (count: number, size: number) => Array.from({ length: count }, (_, at) => textsOf(size, at));
  const python = (name: string, peer: string, atOnce: number, inputs: unknown[]): Workload => ({
    name,
    peer,
    atOnce,
    inputs,
  });
  return [
    [python("embeddings, one text of 120 words", "onnxruntime", 1, batches(20, 1)), embed, embeddings],
    [python("embeddings, batches of 32", "onnxruntime", 1, batches(2, 32)), embed, embeddings],
    [python("embeddings, 16 callers of one text", "onnxruntime", 16, batches(64, 1)), embed, embeddings],
    [python("speech, a sentence", "kokoro-onnx", 1, sentences(2)), speak, speech],
    [python("speech, four at once", "kokoro-onnx", 4, sentences(4)), speak, speech],
    [python("transcription, 45 s, int8, 5 beams", "faster-whisper", 1, [recording]), transcribe, transcription],
    [python("transcription, four at once", "faster-whisper", 4, Array(4).fill(recording)), transcribe, transcription],
    ...chats(),
  ];
}

/** A system prompt that all share, then questions that nobody asked before; greedy, as agents and tools send. */
function chats(): [Workload, Ask, StartPeer][] {
  let asked = 0;
  const system = textsOf(1, 5)[0] ?? "";
  const body = (input: unknown) => {
    asked += 1;
    const messages = [
      { role: "system", content: system },
      { role: "user", content: `${input} (${asked})` },
    ];
    return { model: "chat", temperature: 0, max_tokens: 32, messages };
  };
  const ask: Ask = (input) => post("/v1/chat/completions", body(input));
  let peer: Promise<Subject | undefined> | undefined;
  const start: StartPeer = () => {
    peer ??= startLlamaServer({ ...chatFile(), threads: THREADS, slots: 4, context: 2048 }, children).then((server) =>
      server === undefined
        ? undefined
        : { pid: server.pid, run: (each) => atOnce(each, (input) => server.post(body(input))) },
    );
    return peer;
  };
  const questions = ["What is a lighthouse?", "Name a large river.", "Who wrote Faust?", "What is seven times eight?"];
  return [1, 4].map((callers) => [
    { name: `chat, 32 tokens, ${callers} at once`, peer: "llama-server", atOnce: callers, inputs: questions },
    ask,
    start,
  ]);
}

async function preparePeers() {
  const minilm = join(MODELS, "moderation-minilm");
  const weights = await readFile(join(minilm, "model.safetensors"));
  // The graph names its weights' file, which has to lie beside it.
  await writeFile(join(folder, "model.safetensors"), weights);
  const graph = join(folder, "minilm.onnx");
  await writeFile(graph, bertGraph(new SafetensorsIndex(weights), "model.safetensors", 12));
  const kokoro = join(folder, "kokoro.onnx");
  const parts = [1, 2, 3, 4].map((part) => readFile(join(MODELS, `kokoro-82m/kokoro.onnx.${part}`)));
  await writeFile(kokoro, Buffer.concat(await Promise.all(parts)));
  const voices = join(folder, "voices.npz");
  const pack = `import numpy, sys; numpy.savez(sys.argv[2], af_heart=numpy.fromfile(sys.argv[1], numpy.float32).reshape(-1, 1, 256))`;
  const packing = spawn(python, ["-c", pack, join(MODELS, "kokoro-82m/voice-af_heart.bin"), voices], {
    stdio: "inherit",
  });
  await new Promise((resume) => packing.once("exit", resume));
  const recording = join(folder, "recording.wav");
  const spoken = { model: "hibari", voice: "alloy", input: sentences(9).join(" "), response_format: "wav" };
  await writeFile(recording, Buffer.from(await post("/v1/audio/speech", spoken)));
  return {
    recording,
    embeddings: () => startPython("embeddings", graph, join(minilm, "tokenizer.json")),
    speech: () => startPython("speech", kokoro, voices),
    transcription: async () => startPython("transcription", await ctranslate2Folder()),
  };
}

/** The weights are CTranslate2's own; the list of tokens is left out of the download, since the tokenizer has them. */
async function ctranslate2Folder(): Promise<string> {
  const from = join(MODELS, "whisper-base");
  const to = join(folder, "whisper-base");
  if ((await mkdir(to, { recursive: true })) === undefined) return to;
  for (const name of ["model.bin", "config.json", "tokenizer.json"]) await symlink(resolve(from, name), join(to, name));
  const { model, added_tokens } = JSON.parse(await readFile(join(from, "tokenizer.json"), "utf8"));
  const tokens: string[] = [];
  for (const [token, id] of Object.entries<number>(model.vocab)) tokens[id] = token;
  for (const { content, id } of added_tokens) tokens[id] = content;
  // Times, in steps of 20 ms, are in no tokenizer's list.
  for (let step = 0; step <= 1500; step += 1) tokens.push(`<|${(step / 50).toFixed(2)}|>`);
  await writeFile(join(to, "vocabulary.json"), JSON.stringify(tokens));
  return to;
}

async function startPython(...args: string[]): Promise<Subject> {
  const child = spawn(python, [join(import.meta.dirname, "peers.py"), ...args], { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    pid: child.pid ?? 0,
    async run({ inputs, atOnce }) {
      child.stdin.write(`${JSON.stringify({ at_once: atOnce, inputs })}\n`);
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`peers.py ${args[0]} has ended`);
      return JSON.parse(value).milliseconds;
    },
  };
}

async function compare(workload: Workload, own: Subject, peer: Subject): Promise<string> {
  const results = [own, peer].map((subject) => ({ subject, cpu: [] as number[], milliseconds: [] as number[] }));
  for (let round = 0; round <= Number(rounds); round += 1) {
    for (const { subject, cpu, milliseconds } of results) {
      const before = treeCpuSeconds(subject.pid);
      const durations = await subject.run(workload);
      // The first round loads and warms up.
      if (round === 0) continue;
      cpu.push(treeCpuSeconds(subject.pid) - before);
      milliseconds.push(...durations);
    }
  }
  const [first, second] = results.map(({ cpu, milliseconds }) => ({
    cpu: median(cpu),
    p50: quantile(milliseconds, 0.5),
    p95: quantile(milliseconds, 0.95),
  }));
  if (first === undefined || second === undefined) throw new Error("two subjects are compared");
  const cells = [first.cpu.toFixed(2), second.cpu.toFixed(2), (first.cpu / second.cpu).toFixed(2)];
  cells.push(...[first.p50, second.p50, first.p95, second.p95].map((each) => each.toFixed(0)));
  return `| ${workload.name} | ${workload.peer} | ${cells.join(" | ")} |`;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * (values.length - 1))] ?? Number.NaN;
}

async function atOnce({ inputs, atOnce: callers }: Workload, ask: Ask): Promise<number[]> {
  const waiting = [...inputs];
  const milliseconds: number[] = [];
  const call = async () => {
    for (let input = waiting.shift(); input !== undefined; input = waiting.shift()) {
      const began = performance.now();
      await ask(input);
      milliseconds.push(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return milliseconds;
}

async function post(path: string, body: object): Promise<ArrayBuffer> {
  const response = await service.post(path, body);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.arrayBuffer();
}

async function transcribe(path: unknown): Promise<void> {
  const form = new FormData();
  form.set("model", "transcription");
  form.set("language", "en");
  form.set("file", new Blob([await readFile(String(path))]), "recording.wav");
  const headers = { authorization: `Bearer ${service.apiKey}` };
  const response = await service.fetch("/v1/audio/transcriptions", { method: "POST", body: form, headers });
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

function textsOf(count: number, seed: number): string[] {
  const words = "the minutes of our meeting will follow tomorrow and the budget for spring was put off again".split(
    " ",
  );
  const word = (text: number, at: number) => words[(seed * 5 + text * 7 + at * 3 + (at % 11)) % words.length];
  return Array.from({ length: count }, (_, text) =>
    Array.from({ length: 120 }, (_each, at) => word(text, at)).join(" "),
  );
}

function sentences(count: number): string[] {
  const all = [
    "Every morning the old lighthouse keeper walked down to the harbour and greeted the fishermen.",
    "The minutes of our meeting will follow tomorrow, and the budget for spring was put off again.",
    "A narrow path leads through the orchard to a small house with a green door.",
    "She asked the librarian for a book about rivers and read it in one afternoon.",
  ];
  return Array.from({ length: count }, (_, index) => all[index % all.length] ?? "");
}
