/**
 * Compares the llama-cpp engine (child process, continuous batching) with node-llama-cpp's evaluation loop on the default
 * model. Ratios compare alternating runs; absolute figures depend on the machine.
 * `node bench/llama-cpp.ts [threads] [rounds]`
 */

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { ChatModel } from "../src/contracts/chat-model.ts";
import type { Hosted } from "../src/engines/host/host-model.ts";
import { defaultChatModelPath } from "../test/support/models/default-model.ts";
import { openLlamaCpp } from "../test/support/models/llama-cpp.ts";
import { makeChatRequest } from "../test/support/service/chat-request.ts";
import type { RawRun } from "./llama-cpp-raw-child.ts";
import { median } from "./timing.ts";

const SLOTS = 8;
const TOKENS = 192;
/** The engine temporarily uses fewer threads after another process, here the raw loop, has used the cores. */
const FORGET_MS = 2500;
const threads = Number(process.argv[2] ?? availableParallelism());
const rounds = Number(process.argv[3] ?? 5);
const never = new AbortController().signal;
const strings = { type: "array", items: { type: "string", minLength: 20, maxLength: 60 }, minItems: 20 };
const schema = { type: "json-schema" as const, schema: strings, param: "schema" };
const EXTRAS: Readonly<Record<string, NonNullable<Parameters<typeof makeChatRequest>[0]>>> = {
  penalties: { frequencyPenalty: 0.5, presencePenalty: 0.5, repeatPenalty: 1.1 },
  "logit_bias of 100 tokens": {
    logitBias: Object.fromEntries(Array.from({ length: 100 }, (_, id) => [1000 + id, -5])),
  },
  logprobs: { topLogprobs: 0 },
  "top_logprobs 20": { topLogprobs: 20 },
  "a schema": { format: schema },
  "a schema at temperature 2": { format: schema, temperature: 2 },
};
const story = "Write a very long story about a dragon.";
const prompt =
  "<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n" +
  `<|im_start|>user\n${story}<|im_end|>\n<|im_start|>assistant\n`;

console.log(`${cpus()[0]?.model}, ${cpus().length} cores, ${threads} threads, load ${loadavg()[0]?.toFixed(1)}`);
const raw = fork(
  new URL("./llama-cpp-raw-child.ts", import.meta.url),
  [await defaultChatModelPath(), String(SLOTS), String(threads)],
  {
    env: { ...process.env, UV_THREADPOOL_SIZE: "1" },
  },
);
await once(raw, "message");
const model = await openLlamaCpp({ slots: SLOTS, context_size: 4096, threads, prefix_reuse: false });

console.log("| concurrent | raw loop tokens/s | engine tokens/s | ratio |\n|---|---|---|---|");
for (const concurrency of [1, 4, 8]) {
  const pairs: Array<[raw: number, own: number]> = [];
  for (let round = 0; round <= rounds; round++)
    pairs.push([await runRaw(raw, concurrency), await runOwn(model, concurrency)]);
  const measured = pairs.slice(1);
  const cell = (values: number[]) => median(values).toFixed(1);
  const ratio = median(measured.map(([theirs, own]) => own / theirs)).toFixed(2);
  console.log(
    `| ${concurrency} | ${cell(measured.map(([each]) => each))} | ${cell(measured.map(([, each]) => each))} | ${ratio} |`,
  );
}
raw.kill();

console.log(`memory with ${SLOTS} slots of 4,096 tokens: ${residentMegabytes(model.pid)} MB`);
console.log(
  `longest wait for a token while 3,000 prompt tokens are evaluated: ${Math.round(await longestWait(model))} ms`,
);
console.log("| one completion with | tokens/s relative to a plain request |\n|---|---|");
for (const [name, asked] of Object.entries(EXTRAS)) {
  const ratios: number[] = [];
  for (let round = 0; round < rounds; round++) {
    ratios.push((await speedOf(model, asked)) / (await speedOf(model, { temperature: asked.temperature ?? 1 })));
  }
  console.log(`| ${name} | ${median(ratios).toFixed(2)} |`);
}
await model.close();

const several = await openLlamaCpp({ slots: 4, context_size: 4096, threads, prefix_reuse: false });
const [oneChoice, fourChoices] = [await timeToAll(several, 1), await timeToAll(several, 4)];
console.log(
  `first tokens of all choices after 1,000 prompt tokens: ${ms(oneChoice)} for one, ${ms(fourChoices)} for four, ratio ${(fourChoices / oneChoice).toFixed(2)}`,
);
await several.close();

const reusing = await openLlamaCpp({ slots: 1, context_size: 4096, threads });
const [first, second] = [await timeToFirst(reusing, "What?"), await timeToFirst(reusing, "When?")];
console.log(
  `first token after a shared system prompt of 1,000 tokens: ${ms(first)}, then ${ms(second)}, ratio ${(second / first).toFixed(2)}`,
);
await reusing.close();

async function runRaw(child: ChildProcess, concurrency: number): Promise<number> {
  child.send({ prompt, concurrency, tokens: TOKENS } satisfies RawRun);
  const [{ tokensPerSecond }] = await once(child, "message");
  return tokensPerSecond;
}

/** Uses the seeds of the raw loop; counts the tokens of each completion, since some end early. */
async function runOwn(own: Hosted<ChatModel>, concurrency: number): Promise<number> {
  await delay(FORGET_MS);
  const startedAt = performance.now();
  const counts = await Promise.all(
    Array.from({ length: concurrency }, async (_, seed) => {
      let count = 0;
      for await (const event of own.chat(
        makeChatRequest({ say: story, temperature: 1, seed, maxTokens: TOKENS }),
        never,
      )) {
        if (event.type === "finish") count = event.usage.completionTokens;
      }
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startedAt) / 1000);
}

async function longestWait(own: Hosted<ChatModel>): Promise<number> {
  const abort = new AbortController();
  let longest = 0;
  let isWatching = false;
  const speaking = (async () => {
    let lastAt = performance.now();
    for await (const _ of own.chat(makeChatRequest({ say: story, temperature: 0, maxTokens: 3000 }), abort.signal)) {
      if (isWatching) longest = Math.max(longest, performance.now() - lastAt);
      lastAt = performance.now();
    }
  })();
  await new Promise((resume) => setTimeout(resume, 1000));
  isWatching = true;
  for await (const _ of own.chat(
    makeChatRequest({ say: "The dragon ate another rock. ".repeat(490), maxTokens: 1 }),
    never,
  ));
  isWatching = false;
  abort.abort();
  await speaking;
  return longest;
}

async function speedOf(own: Hosted<ChatModel>, asked: Parameters<typeof makeChatRequest>[0]): Promise<number> {
  const startedAt = performance.now();
  let firstAt = startedAt;
  let count = 0;
  for await (const event of own.chat(makeChatRequest({ say: story, seed: 1, maxTokens: TOKENS, ...asked }), never)) {
    if (event.type === "start") firstAt = performance.now();
    if (event.type === "finish") count = event.usage.completionTokens;
  }
  return (count - 1) / ((performance.now() - firstAt) / 1000);
}

async function timeToAll(own: Hosted<ChatModel>, choices: number): Promise<number> {
  const startedAt = performance.now();
  const say = "Dragons eat granite on Mondays. ".repeat(140);
  for await (const _ of own.chat(makeChatRequest({ say, choices, seed: 1, maxTokens: 1 }), never));
  return performance.now() - startedAt;
}

async function timeToFirst(own: Hosted<ChatModel>, say: string): Promise<number> {
  const startedAt = performance.now();
  const system = { role: "system" as const, content: "Dragons eat granite on Mondays. ".repeat(140) };
  const messages = [system, { role: "user" as const, content: say }];
  for await (const _ of own.chat(makeChatRequest({ messages, temperature: 0, maxTokens: 4 }), never)) break;
  return performance.now() - startedAt;
}

function residentMegabytes(pid: number | undefined): number | undefined {
  if (process.platform !== "linux") return undefined;
  return Math.round((Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096) / 1e6);
}

function ms(milliseconds: number): string {
  return `${Math.round(milliseconds)} ms`;
}
