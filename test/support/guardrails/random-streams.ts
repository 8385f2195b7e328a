/** Streams of many formats about personal data, whose answers an upstream cuts at random bytes. */

import { expect } from "vitest";
import { seededRandom } from "../seeded-random.ts";
import { type ServiceProcess, startServiceProcess } from "../service/service-process.ts";
import { deploymentAt } from "../upstreams/deployment-at.ts";
import { type EchoUpstream, startEchoUpstream } from "./echo-upstream.ts";

/** Parts of the values that nothing outside may see. */
const MARKS = ["leak.example", "4111 1111", "DE89 3704", "+49 30 9018", "203.0.113.", "@leak"];
const CONCURRENCY = 8;

/** Runs `count` streams: half of them are masked here and come back, half ask a Presidio server that is away. */
export async function runRandomStreams(count: number, seed: number): Promise<void> {
  const random = seededRandom(seed);
  await using upstream = await startEchoUpstream(random);
  const deployment = deploymentAt(upstream, "echo");
  const service = await startServiceProcess({
    until: "listening",
    config: `
builtin_models: false
log_level: trace
guardrail_services: { presidio: { url: "http://127.0.0.1:9", timeout_seconds: 1 } }
models:
  - { id: here, task: chat, guardrails: [{ type: pii }], deployments: [${deployment}] }
  - { id: away, task: chat, guardrails: [{ type: pii, engine: presidio }], deployments: [${deployment}] }
`,
  });
  try {
    let started = 0;
    const work = async () => {
      while (started < count) {
        started += 1;
        await runOne(service, started, random);
        if (started % 100 === 0) expectNone(upstream);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    expectNone(upstream);
    await service.stop();
    const output = service.output();
    for (const mark of MARKS) expect(output.includes(mark), `${mark} was logged`).toBe(false);
  } finally {
    if (service.process.exitCode === null) await service.stop();
  }
}

function expectNone(upstream: EchoUpstream): void {
  const sent = upstream.take();
  for (const mark of MARKS) expect(sent.includes(mark), `${mark} was sent`).toBe(false);
}

// biome-ignore lint/suspicious/noExplicitAny: frames of four formats
type Any = any;

const FORMATS: ReadonlyArray<
  [path: string, toBody: (text: string) => object, textOf: (frame: Any) => string | undefined]
> = [
  [
    "/v1/chat/completions",
    (text) => ({ messages: [{ role: "user", content: text }] }),
    (frame) => frame.choices?.[0]?.delta?.content,
  ],
  [
    "/v1/chat/completions",
    (text) => ({
      messages: [{ role: "user", content: text }],
      tools: [{ type: "function", function: { name: "send", parameters: { type: "object" } } }],
    }),
    (frame) => frame.choices?.[0]?.delta?.tool_calls?.[0]?.function?.arguments,
  ],
  [
    "/v1/responses",
    (text) => ({ input: text, store: false }),
    (frame) => (frame.type === "response.output_text.delta" ? frame.delta : undefined),
  ],
  [
    "/v1/messages",
    (text) => ({ max_tokens: 500, messages: [{ role: "user", content: text }] }),
    (frame) => frame.delta?.text,
  ],
  ["/v1/completions", (text) => ({ prompt: text, max_tokens: 500 }), (frame) => frame.choices?.[0]?.text],
];

async function runOne(service: ServiceProcess, number: number, random: () => number): Promise<void> {
  const [path, toBody, textOf] = pick(FORMATS, random);
  const text = randomText(number, random);
  const isHere = random() < 0.5;
  const response = await service.post(path, { model: isHere ? "here" : "away", stream: true, ...toBody(text) });
  const body = await response.text();
  if (!isHere) {
    expect(response.status).toBeGreaterThanOrEqual(500);
    for (const mark of MARKS) expect(body).not.toContain(mark);
    return;
  }
  const frames = body.split("\n").filter((line) => line.startsWith("data: {"));
  const answer = frames.map((line) => textOf(JSON.parse(line.slice(6))) ?? "").join("");
  expect(answer.startsWith('{"to"') ? JSON.parse(answer).to : answer).toBe(text);
}

function randomText(number: number, random: () => number): string {
  const digit = () => Math.floor(random() * 10);
  const parts = [
    () => `user${number}.${digit()}@leak.example.com`,
    () => "4111 1111 1111 1111",
    () => "DE89 3704 0044 0532 0130 00",
    () => `+49 30 9018${digit()}${digit()}`,
    () => `203.0.113.${1 + digit()}`,
    () =>
      pick(
        [
          "C4",
          "S3",
          "a < b",
          "<b>bold</b>",
          "EMAIL_ADDRESS_",
          "<EMAIL_ADDRESS_1>",
          "日本語",
          "🙂",
          '"quoted"',
          "\\n",
          "\n",
        ],
        random,
      ),
    () => pick(["write to", "and then", "please call", "the order", "it is", "ok."], random),
  ];
  return Array.from({ length: 2 + Math.floor(random() * 12) }, () => pick(parts, random)()).join(" ");
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item;
}
