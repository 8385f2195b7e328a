/**
 * Measures what guardrails add to the first token of a stream, and to other requests while a megabyte is checked.
 * Usage: node bench/guardrails/added-time.ts. Guarded and unguarded requests take turns in one run.
 */

import { performance } from "node:perf_hooks";
import { startEchoUpstream } from "../../test/support/guardrails/echo-upstream.ts";
import { startServiceProcess } from "../../test/support/service/service-process.ts";

const ROUNDS = 300;
const TEXT = `Please answer Ada (ada@example.com, +49 30 901820) about her card 4111 1111 1111 1111. ${"She asks for the delivery of last week and is in a hurry. ".repeat(30)}`;
const MEGABYTE = "Call 212-555-0147 or mail bob@example.com about it. Nothing else here is personal, it is only long. "
  .repeat(10_500)
  .slice(0, 1_000_000);

await using upstream = await startEchoUpstream();
const deployment = `{ engine: openai-compatible, base_url: "${upstream.baseUrl}", api_key: sk-upstream, model: echo }`;
const all = "[{ type: pii }, { type: secrets }, { type: prompt_injection }]";
const both = "[{ type: pii, action: mask, on: [input, output] }, { type: secrets, on: [input, output] }]";
const service = await startServiceProcess({
  until: "listening",
  config: `
builtin_models: false
log_level: fatal
models:
  - { id: plain, task: chat, deployments: [${deployment}] }
  - { id: guarded, task: chat, guardrails: ${all}, deployments: [${deployment}] }
  - { id: both, task: chat, guardrails: ${both}, deployments: [${deployment}] }
`,
});

async function firstToken(model: string, content: string): Promise<number> {
  const beganAt = performance.now();
  const messages = [{ role: "user", content }];
  const response = await service.post("/v1/chat/completions", { model, messages, stream: true });
  let first: number | undefined;
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    if (first === undefined && /"content":"[^"]/.test(text)) first = performance.now() - beganAt;
  }
  upstream.received.splice(0);
  return first ?? Number.NaN;
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

const times: Record<string, number[]> = { plain: [], guarded: [], both: [] };
for (let round = -30; round < ROUNDS; round += 1) {
  for (const model of Object.keys(times)) {
    const time = await firstToken(model, TEXT);
    if (round >= 0) times[model]?.push(time);
  }
}
for (const [model, values] of Object.entries(times)) {
  console.log(
    `${model}: first token p50 ${quantile(values, 0.5).toFixed(1)} ms, p95 ${quantile(values, 0.95).toFixed(1)} ms`,
  );
}

async function others(isOver: () => boolean): Promise<number[]> {
  const values: number[] = [];
  while (!isOver()) values.push(await firstToken("plain", "Hello"));
  return values;
}

let rounds = 0;
const alone = await others(() => {
  rounds += 1;
  return rounds > ROUNDS;
});
let isScanned = false;
const beganAt = performance.now();
const scanning = (async () => {
  for (let count = 0; count < 5; count += 1) {
    // The upstream repeats the last message only.
    const messages = [
      { role: "system", content: `${MEGABYTE} ${count}` },
      { role: "user", content: "Hello" },
    ];
    const response = await service.post("/v1/chat/completions", { model: "guarded", messages });
    await response.text();
  }
  isScanned = true;
})();
const during = await others(() => isScanned);
await scanning;
console.log(`a megabyte: ${((performance.now() - beganAt) / 5).toFixed(0)} ms`);
console.log(
  `others alone: p95 ${quantile(alone, 0.95).toFixed(1)} ms; while it is checked: p95 ${quantile(during, 0.95).toFixed(1)} ms of ${during.length}`,
);
await service.stop();
