/** 64 upstreams that come, go, slow down and die under 2,000 streams at a time. */

import { rename, writeFile } from "node:fs/promises";
import { Agent, request as sendRequest } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";
import { UpstreamFleet } from "../support/upstreams/upstream-fleet.ts";

const UPSTREAMS = 64;
const STREAMS = 2000;
const SECONDS = 30;
const SYSTEM_PROMPTS = 200;
const SYSTEM_CHARACTERS = 8000;
const MEAN_TURNS = 4;
/** Running requests of an upstream that the service may not exceed. */
const MAX_CONCURRENCY = 60;

const MODELS = {
  "least-busy": "strategy: least_busy",
  "power-of-two": "strategy: power_of_two_choices",
  "least-busy-prefix": "strategy: least_busy, prefix",
  "power-of-two-prefix": "strategy: power_of_two_choices, prefix",
};

let fleet: UpstreamFleet;
let service: ServiceProcess;
let directory: TemporaryDirectory;
let ports: number[];
const agent = new Agent({ keepAlive: true, maxSockets: STREAMS });

beforeAll(async () => {
  fleet = new UpstreamFleet();
  ports = await Promise.all(Array.from({ length: UPSTREAMS }, () => fleet.start()));
  directory = await temporaryDirectory();
  await list(ports);
  const models = Object.entries(MODELS).map(([id, options]) => {
    const [strategy, prefix] = options.split(", ");
    const endpoints = `endpoints: { file: "${listFile()}", refresh_seconds: 0.1 }, max_concurrency: ${MAX_CONCURRENCY}`;
    // 64 reads a second for each of two models.
    const more = prefix === undefined ? "probe: true" : "metrics_path: /metrics, prefix_caching: true";
    return `  - { id: ${id}, task: chat, ${strategy}, circuit: { failures: 2, cooldown_seconds: 1 }, deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1/v1", ${endpoints}, ${more} }] }`;
  });
  service = await startServiceProcess({ config: `builtin_models: false\nmodels:\n${models.join("\n")}\n` });
});
afterAll(async () => {
  await service?.stop();
  fleet?.close();
  agent.destroy();
  await directory?.[Symbol.asyncDispose]();
});

const listFile = () => join(directory.path, "endpoints.json");

async function list(listed: readonly number[]): Promise<void> {
  await writeFile(`${listFile()}.new`, JSON.stringify(listed.map((port) => `127.0.0.1:${port}`)));
  await rename(`${listFile()}.new`, listFile());
}

interface Streamed {
  status: number;
  /** Port of the upstream that answered. */
  port: number;
  text: string;
  isWhole: boolean;
  hasErrorFrame: boolean;
  firstTokenMs: number;
}

type Message = { role: string; content: string };

function stream(model: string, messages: readonly Message[]): Promise<Streamed> {
  const body = JSON.stringify({ model, messages, stream: true });
  const headers = { authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" };
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      `${service.origin}/v1/chat/completions`,
      { method: "POST", headers, agent },
      (response) => {
        let text = "";
        let firstTokenMs = Number.NaN;
        const finish = () =>
          resolve({
            status: response.statusCode ?? 0,
            port: Number(String(response.headers["x-parlance-deployment"]).split(":").at(-1)),
            text,
            isWhole: text.includes('"content":"7 "') && text.includes("data: [DONE]"),
            hasErrorFrame: text.includes('"error"'),
            firstTokenMs,
          });
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          if (text === "") firstTokenMs = performance.now() - startedAt;
          text += chunk;
        });
        response.on("close", finish);
      },
    );
    // Idle connections end at either side, also just when a request is sent.
    sent.on("error", (error) => (sent.reusedSocket ? resolve(stream(model, messages)) : reject(error)));
    sent.end(body);
  });
}

/** Zipf's frequencies: the first of 200 prompts has a sixth of the requests. */
function systemPrompt(): string {
  const rank = Math.floor(Math.exp(Math.random() * Math.log(SYSTEM_PROMPTS + 1)));
  return `You serve team ${rank}. `.padEnd(SYSTEM_CHARACTERS, `Rule of team ${rank}. `);
}

let conversations = 0;

/** Keeps 2,000 streams running until the time is over, each one a conversation of several turns. */
async function converse(model: string, until: number): Promise<Streamed[]> {
  const all: Streamed[] = [];
  const client = async (delayMs: number) => {
    await pause(delayMs);
    while (performance.now() < until) {
      conversations += 1;
      const messages: Message[] = [
        { role: "system", content: systemPrompt() },
        { role: "user", content: `Conversation ${conversations}. ${"Please. ".repeat(60)}` },
      ];
      const turns = 1 + Math.floor(-MEAN_TURNS * Math.log(Math.random()));
      for (let turn = 0; turn < turns && performance.now() < until; turn += 1) {
        const answer = await stream(model, messages);
        all.push(answer);
        if (!answer.isWhole) break;
        messages.push(
          { role: "assistant", content: "Answer. ".repeat(60) },
          { role: "user", content: `Turn ${turn}.` },
        );
      }
    }
  };
  await Promise.all(Array.from({ length: STREAMS }, (_each, index) => client((index / STREAMS) * 10_000)));
  return all;
}

const percentile = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

test.each(Object.keys(MODELS))("loses nothing and overloads nobody with %s", async (model) => {
  await fleet.stats();
  const answers = await converse(model, performance.now() + SECONDS * 1000);
  const stats = await fleet.stats();
  const firstTokens = answers.map(({ firstTokenMs }) => firstTokenMs);
  console.log(
    model.padEnd(20),
    `${answers.length} streams, cached prompt tokens ${percent(stats.cachedTokens, stats.promptTokens)}, cached later turns ${percent(stats.cachedTurns, stats.laterTurns)}, first token p50 ${percentile(firstTokens, 0.5).toFixed(0)} p95 ${percentile(firstTokens, 0.95).toFixed(0)} ms, highest running ${stats.highestRunning}, beyond the bound ${stats.beyondBound}`,
  );
  expect(answers.filter(({ isWhole, status }) => !isWhole || status !== 200)).toEqual([]);
  expect(stats.highestRunning).toBeLessThanOrEqual(MAX_CONCURRENCY);
  expect(stats.beyondBound / stats.requests).toBeLessThan(0.01);
});

test("loses only what had begun on upstreams that die, while others come, go and slow down", async () => {
  await fleet.stats();
  const killed = new Set<number>();
  const until = performance.now() + SECONDS * 1000;
  let listed = [...ports];
  const counts = { killed: 0, removed: 0, added: 0, slowed: 0 };
  const disturb = async () => {
    await pause(6000);
    for (let round = 0; performance.now() < until - 5000; round += 1) {
      const port = listed[Math.floor(Math.random() * listed.length)] ?? 0;
      if (round % 4 === 0) {
        // Dies while it is listed, is noticed later, and another one comes.
        killed.add(port);
        counts.killed += 1;
        await fleet.kill(port);
        await pause(700);
        listed = listed.filter((each) => each !== port);
      } else if (round % 4 === 1) {
        listed = [...listed, await fleet.start()];
        counts.added += 1;
      } else if (round % 4 === 2) {
        listed = listed.filter((each) => each !== port);
        await fleet.drain(port);
        counts.removed += 1;
      } else {
        await fleet.slow(port, 5);
        counts.slowed += 1;
        listed = [...listed, await fleet.start()];
        counts.added += 1;
      }
      await list(listed);
      await pause(400);
    }
  };
  const [answers] = await Promise.all([converse("least-busy-prefix", until), disturb()]);
  const stats = await fleet.stats();
  const broken = answers.filter(({ isWhole }) => !isWhole);
  console.log(
    `${answers.length} streams, ${broken.length} broken by`,
    counts,
    `cached prompt tokens ${percent(stats.cachedTokens, stats.promptTokens)}, cached later turns ${percent(stats.cachedTurns, stats.laterTurns)}, highest running ${stats.highestRunning}, beyond the bound ${stats.beyondBound}`,
  );
  // What breaks off had begun on an upstream that was killed, and says so.
  expect(
    broken.filter(({ port, status, hasErrorFrame }) => !killed.has(port) || status !== 200 || !hasErrorFrame),
  ).toEqual([]);
  expect(broken.length).toBeLessThan(counts.killed * MAX_CONCURRENCY);
  expect(stats.highestRunning).toBeLessThanOrEqual(MAX_CONCURRENCY);
  expect(stats.beyondBound / stats.requests).toBeLessThan(0.05);
});

function percent(part: number, total: number): string {
  return `${((100 * part) / total).toFixed(1)} %`;
}
