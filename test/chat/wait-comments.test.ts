/** Streams of requests that wait for a model or a slot. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
models:
  - id: slow
    task: chat
    deployments: [{ engine: scripted, slots: 1, replies: [{ text: "Done.", delay_ms_before_first: 3000 }] }]
`,
  });
});
afterAll(() => service.stop());

const ask = (stream: boolean) =>
  service.post("/v1/chat/completions", { model: "slow", messages: [{ role: "user", content: "Hi" }], stream });

test("sends comments while a request is queued, then its answer", async () => {
  const [first, second] = await Promise.all([ask(true), ask(true)]);
  const streams = [await first.text(), await second.text()];
  const queued = streams.filter((stream) => stream.includes(": queued\n\n"));
  expect(queued).toHaveLength(1);
  // The request that had a slot got no comment.
  for (const stream of streams) expect(stream).toMatch(/"content":"Done.*data: \[DONE\]\n\n$/s);
});

test("sends no comments without streaming", async () => {
  const answers = await Promise.all([ask(false), ask(false)]);
  for (const answer of answers) {
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Done." } }] });
  }
});
