/**
 * Cost of forwarding a streamed completion. `node bench/openai-compatible.ts`
 *
 * First the cost per frame: split and rewritten as the engine does, and parsed and serialized for comparison. Then
 * complete streams from an upstream in a separate thread, through the engine and read directly with undici.
 */

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus } from "node:os";
import { isMainThread, parentPort, Worker } from "node:worker_threads";
import { Pool } from "undici";
import type { ChatProxy } from "../src/contracts/chat-proxy.ts";
import { ChatFrames } from "../src/engines/openai-compatible/chat/chat-frames.ts";
import { SseFrames } from "../src/engines/openai-compatible/connection/sse-frames.ts";
import { openAiCompatibleEngine } from "../src/engines/openai-compatible/openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "../src/engines/openai-compatible/settings.ts";
import { parseEvents } from "../src/kernel/server-sent-events.ts";
import { makeEngineServices } from "../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../test/support/service/chat-request.ts";

const FRAMES_PER_STREAM = 64;
const STREAMS = 4000;
const CONNECTIONS = 32;

const envelope = {
  id: `chatcmpl-${"a".repeat(32)}`,
  object: "chat.completion.chunk",
  created: 1700000000,
  model: "Qwen/Qwen3-8B",
};
const frameOf = (choices: object[], more: object = {}) =>
  Buffer.from(`data: ${JSON.stringify({ ...envelope, choices, ...more })}\n\n`);
const textFrame = frameOf([{ index: 0, delta: { content: " token" }, logprobs: null, finish_reason: null }]);
const lastFrames = Buffer.concat([
  frameOf([{ index: 0, delta: {}, logprobs: null, finish_reason: "stop" }]),
  frameOf([], {
    usage: { prompt_tokens: 10, completion_tokens: FRAMES_PER_STREAM, total_tokens: 10 + FRAMES_PER_STREAM },
  }),
  Buffer.from("data: [DONE]\n\n"),
]);

if (isMainThread) await measure();
else serve();

function serve(): void {
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", async () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (let count = 0; count < FRAMES_PER_STREAM; count += 1) {
        response.write(textFrame);
        await new Promise((next) => setImmediate(next));
      }
      response.end(lastFrames);
    });
  });
  server.listen(0, "127.0.0.1", () => parentPort?.postMessage((server.address() as AddressInfo).port));
}

async function measure(): Promise<void> {
  console.log(`${cpus().length} cores, Node ${process.version}, ${textFrame.length} bytes a frame\n`);
  measureBytes();
  const upstream = new Worker(new URL(import.meta.url));
  const [port] = (await once(upstream, "message")) as [number];
  const origin = `http://127.0.0.1:${port}`;
  const pool = new Pool(origin, { allowH2: false, headersTimeout: 0, bodyTimeout: 0 });
  const settings = openAiCompatibleSettings.parse({ base_url: `${origin}/v1` });
  const model = (await openAiCompatibleEngine.open(settings, "chat", makeEngineServices())) as ChatProxy;
  const call = makeChatCall();
  const body = JSON.stringify(call.passThrough.body);
  const raw = () => readRaw(pool, body);
  const engine = async () => {
    let bytes = 0;
    for await (const event of forward(model, call, new AbortController().signal)) {
      if (event.type === "frames") bytes += event.frames.length;
    }
    return bytes;
  };
  console.log(
    `\nstreams of ${FRAMES_PER_STREAM} frames, ${CONNECTIONS} at once   streams/s  µs CPU of this thread a frame`,
  );
  for (let round = 0; round < 2; round += 1) {
    const rawCost = await run("undici, bytes counted only", raw);
    const engineCost = await run("openai-compatible", engine);
    console.log(`ratio of CPU ${(engineCost / rawCost).toFixed(2)}`);
  }
  await model.close();
  await pool.destroy();
  await upstream.terminate();
}

function measureBytes(): void {
  const rounds = 300_000;
  const time = (name: string, work: () => void) => {
    const began = performance.now();
    work();
    const nanoseconds = ((performance.now() - began) * 1e6) / rounds;
    console.log(`${name.padEnd(44)}${nanoseconds.toFixed(0).padStart(7)} ns a frame`);
  };
  for (const perChunk of [1, 8]) {
    const chunk = Buffer.concat(Array.from({ length: perChunk }, () => textFrame));
    console.log(`${perChunk} frame(s) in a chunk`);
    for (let warm = 0; warm < 2; warm += 1) {
      time("  cut and rewritten, as the engine does", () => {
        const sse = new SseFrames(1 << 20);
        const frames = new ChatFrames({ model: "catalog/model", choices: 1 });
        for (let at = 0; at < rounds; at += perChunk) Buffer.from(frames.rewrite(sse.push(chunk)), "latin1");
      });
      time("  parsed and serialized", () => {
        for (let at = 0; at < rounds; at += perChunk) {
          let out = "";
          for (const { data } of parseEvents(chunk)) {
            out += `data: ${JSON.stringify({ ...JSON.parse(data), model: "catalog/model" })}\n\n`;
          }
          Buffer.from(out);
        }
      });
    }
  }
}

function readRaw(pool: Pool, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    pool.dispatch(
      { method: "POST", path: "/v1/chat/completions", headers: { "content-type": "application/json" }, body },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData(_controller, chunk) {
          bytes += chunk.length;
        },
        onResponseEnd: () => resolve(bytes),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

async function run(name: string, stream: () => Promise<number>): Promise<number> {
  let left = STREAMS;
  const before = process.threadCpuUsage();
  const began = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await stream();
    }),
  );
  const rate = STREAMS / ((performance.now() - began) / 1000);
  const { user, system } = process.threadCpuUsage(before);
  const perFrame = (user + system) / STREAMS / FRAMES_PER_STREAM;
  console.log(`${name.padEnd(44)}${rate.toFixed(0).padStart(9)}${perFrame.toFixed(2).padStart(12)}`);
  return perFrame;
}
