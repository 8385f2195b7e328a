import { expect, test } from "vitest";
import { makeChatCall } from "../../../test/support/service/chat-request.ts";
import { openChatDeployment, resolvedModelOf } from "../../../test/support/upstreams/chat-deployment.ts";
import type { ChatEvent, ChatModel } from "../../contracts/chat-model.ts";
import type { Deployment } from "../../deployments/deployment.ts";
import { Fault } from "../../kernel/faults.ts";
import { chatAdapter } from "../adapters/chat-adapter.ts";
import { RetryBudget } from "./retry-budget.ts";
import { Router } from "./router.ts";

function makeDeployment(
  name: string,
  chat: () => AsyncIterable<ChatEvent>,
  prepare?: ChatModel["prepare"],
): Promise<Deployment> {
  const circuit = { failures: 1_000_000, failureRate: 1, cooldownSeconds: 1 };
  return openChatDeployment(name, { chat, prepare, slots: 1, routingOptions: { maxQueue: 0, circuit } });
}

function routeOver(router: Router, deployments: Deployment[], retries = 0) {
  return router.route({
    candidates: [resolvedModelOf(deployments, { retries })],
    adapter: chatAdapter(makeChatCall(), "one"),
    signal: new AbortController().signal,
    project: "one",
    attemptStats: { attempts: 0, queuedSeconds: 0 },
  });
}

test.each([
  ["no attempt is left", 0, {}],
  ["what failed asks to be left alone", 2, { retryAfterSeconds: 60 }],
])("does not wait for another attempt when %s", async (_why, retries, details) => {
  // biome-ignore lint/correctness/useYield: it fails before it has said anything.
  const failing = await makeDeployment("failing", async function* () {
    throw new Fault("upstream-failed", "It broke.", details);
  });
  const failure = routeOver(new Router(), [failing], retries).catch((failure: unknown) => failure);
  // Shorter than any timer.
  const later = new Promise((resume) => setImmediate(() => setImmediate(resume)));
  expect(await Promise.race([failure, later])).toMatchObject({ kind: "upstream-failed" });
});

test("counts no retry for a full deployment, which is tried again once a slot is free", async () => {
  const { signal } = new AbortController();
  // biome-ignore lint/correctness/useYield: it fails before it has said anything.
  const failing = await makeDeployment("failing", async function* () {
    throw new Fault("upstream-failed", "It broke.");
  });
  const full = await makeDeployment("full", async function* () {
    yield { type: "text", choice: 0, text: "Here.", completionTokens: 1 };
  });
  const busy = await full.acquireSlot(signal, "another");
  const router = new Router();
  const route = () => routeOver(router, [failing, full]);
  for (let round = 0; round < 40; round += 1) await expect(route()).rejects.toMatchObject({ kind: "upstream-failed" });
  busy.release();
  expect((await route()).deployment).toBe(full);
});

test("retries at a fallback for long prompts are within the budget, and the first attempt there is no retry", async () => {
  // biome-ignore lint/correctness/useYield: it fails before it has said anything.
  const small = await makeDeployment("small", async function* () {
    throw new Fault("invalid-request", "Too long.", { code: "context_length_exceeded" });
  });
  let attempts = 0;
  // biome-ignore lint/correctness/useYield: it fails before it has said anything.
  const failing = async function* (): AsyncGenerator<ChatEvent> {
    attempts += 1;
    throw new Fault("upstream-failed", "It broke.");
  };
  const large = await Promise.all(["one", "two"].map((name) => makeDeployment(name, failing)));
  const router = new Router();
  const requests = 100;
  for (let request = 0; request < requests; request += 1) {
    const routed = router.route({
      candidates: [resolvedModelOf([small]), { ...resolvedModelOf(large, { retries: 0 }), occasion: "context_length" }],
      adapter: chatAdapter(makeChatCall(), "one"),
      signal: new AbortController().signal,
      project: "one",
      attemptStats: { attempts: 0, queuedSeconds: 0 },
    });
    await expect(routed).rejects.toMatchObject({ code: "context_length_exceeded" });
  }
  expect(attempts).toBeGreaterThan(requests);
  expect(attempts).toBeLessThanOrEqual(requests * (1 + RetryBudget.share) + RetryBudget.reserve + 1);
});

test("holds no slot while a request is prepared, such as for its schemas", async () => {
  const answer = async function* (): AsyncGenerator<ChatEvent> {
    yield { type: "start", promptTokens: 1, cachedTokens: 0 };
  };
  const compiled = Promise.withResolvers<void>();
  let prepared = 0;
  const deployment = await makeDeployment("local", answer, (request) => {
    prepared += 1;
    return prepared === 1 ? compiled.promise.then(() => request) : undefined;
  });
  const router = new Router({ onAttempt: () => {} });
  const slow = routeOver(router, [deployment]);
  // With its only slot taken and no queue, the deployment would refuse the second request.
  const { events } = await routeOver(router, [deployment]);
  await events.return?.();
  compiled.resolve();
  await expect(slow).resolves.toMatchObject({ id: "both" });
});

test("goes to the deployment that has replaced a retired one since the request began", async () => {
  const answer = async function* (): AsyncGenerator<ChatEvent> {
    yield { type: "text", choice: 0, text: "Here.", completionTokens: 1 };
  };
  const retired = await makeDeployment("retired", answer);
  const current = await makeDeployment("current", answer);
  const router = new Router({ find: () => resolvedModelOf([current]) });
  await retired.retire();
  expect((await routeOver(router, [retired])).deployment).toBe(current);
});
