/** A thousand failing requests leak no memory, sockets or listeners. */

import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../../../../test/support/service/chat-request.ts";
import {
  type FaultName,
  type FaultyUpstream,
  startFaultyUpstream,
} from "../../../../test/support/upstreams/faulty-upstream.ts";
import type { ChatProxy } from "../../../contracts/chat-proxy.ts";
import { openAiCompatibleEngine } from "../openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "../settings.ts";

const ROUNDS = 1000;
const AT_ONCE = 20;

let upstream: FaultyUpstream;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
});
afterAll(() => upstream.close());

async function open(baseUrl: string): Promise<ChatProxy> {
  const settings = openAiCompatibleSettings.parse({ base_url: baseUrl, idle_timeout_seconds: 30 });
  return (await openAiCompatibleEngine.open(settings, "chat", makeEngineServices())) as ChatProxy;
}

async function rounds(work: (round: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < ROUNDS) await work(next++);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;

test.each(["never-answers", "headers-then-hangs", "hangs-midway", "drips", "floods"] satisfies FaultName[])(
  "releases aborted requests to an upstream that %s",
  async (fault) => {
    const model = await open(upstream.baseUrlFor(fault));
    const timersBefore = timers();
    await rounds(async (round) => {
      const abort = new AbortController();
      setTimeout(() => abort.abort(), round % 10);
      for await (const event of forward(model, makeChatCall({ stream: round % 4 !== 0 }), abort.signal)) {
        expect(event.type).toBe("frames");
      }
    });
    // Nobody closed the model: the connections end because their requests did.
    await expect.poll(() => upstream.openSockets()).toBe(0);
    await delay(50);
    expect(timers()).toBeLessThanOrEqual(timersBefore + 2);
    await model.close();
  },
);

test.each([
  "resets-mid-chunk",
  "ends-early",
  "error-frame-midway",
  "rate-limited",
  "refuses-request",
] satisfies FaultName[])("an upstream that %s", async (fault) => {
  const model = await open(upstream.baseUrlFor(fault));
  const timersBefore = timers();
  let faults = 0;
  await rounds(async () => {
    try {
      for await (const _ of forward(model, makeChatCall(), new AbortController().signal));
    } catch {
      faults += 1;
    }
  });
  expect(faults).toBe(ROUNDS);
  expect(upstream.openSockets()).toBeLessThanOrEqual(AT_ONCE * 2);
  await model.close();
  await expect.poll(() => upstream.openSockets()).toBe(0);
  expect(timers()).toBeLessThanOrEqual(timersBefore + 2);
});
