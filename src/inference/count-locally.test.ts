import { once } from "node:events";
import { expect, test } from "vitest";
import type { ChatModel } from "../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../contracts/default-chat-request.ts";
import type { Deployment } from "../deployments/deployment.ts";
import { countLocally } from "./count-locally.ts";

const REQUEST = { ...DEFAULT_CHAT_REQUEST, model: "m", messages: [], callerHeaders: {} };

function deploymentOf(countTokens: NonNullable<ChatModel["countTokens"]>): Deployment {
  const model = { task: "chat", countTokens };
  return { isUpstream: false, hold: () => ({ [Symbol.dispose]: () => {} }), opened: async () => model } as never;
}

const broken = deploymentOf(async (_request, signal) => {
  await once(signal, "abort");
  throw signal.reason;
});
const partial = deploymentOf(async (_request, signal) => {
  await once(signal, "abort");
  return 7;
});

test.each([
  ["rejects", broken],
  ["returns what it has", partial],
])("gives up a count that takes too long, when the model %s", async (_what, deployment) => {
  await expect(countLocally([deployment], REQUEST, new AbortController().signal, 20)).resolves.toBeUndefined();
});

test("returns a count in time, and throws when the request itself ends", async () => {
  const exact = deploymentOf(async () => 42);
  await expect(countLocally([exact], REQUEST, new AbortController().signal)).resolves.toBe(42);
  await expect(countLocally([broken], REQUEST, AbortSignal.timeout(20))).rejects.toThrow();
});
