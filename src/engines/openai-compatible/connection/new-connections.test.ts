/** Connections that are still being opened for a request, directly and through a proxy. */

import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeEngineServices } from "../../../../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../../../../test/support/service/chat-request.ts";
import { eventually } from "../../../../test/support/service/eventually.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../../test/support/service/temporary-directory.ts";
import { makeTranscriptionRequest, uploadedFile } from "../../../../test/support/service/transcription-request.ts";
import type { ChatProxy } from "../../../contracts/chat-proxy.ts";
import type { TranscriptionModel } from "../../../contracts/transcription-model.ts";
import { openAiCompatibleEngine } from "../openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "../settings.ts";

let folder: TemporaryDirectory;
let server: Server;
let origin: string;
const open = new Set<Socket>();
let connections = 0;
/** Handles the first bytes of a connection. */
let onBytes: (socket: Socket) => void;

beforeAll(async () => {
  folder = await temporaryDirectory();
  await writeFile(join(folder.path, "file"), "sound");
  server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => open.delete(socket));
    socket.once("data", () => onBytes(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  for (const socket of open) socket.destroy();
  server.close();
  await folder[Symbol.asyncDispose]();
});
beforeEach(() => {
  connections = 0;
});

const WAYS = {
  straight: () => ({ base_url: `http://${origin}/v1` }),
  "straight, TLS": () => ({ base_url: `https://${origin}/v1` }),
  "http through a proxy": () => ({ base_url: "http://upstream.invalid/v1", proxy: `http://${origin}` }),
  "https through a proxy": () => ({ base_url: "https://upstream.invalid/v1", proxy: `http://${origin}` }),
};

async function transcribe(settings: object, signal: AbortSignal): Promise<unknown> {
  const parsed = openAiCompatibleSettings.parse(settings);
  const model = (await openAiCompatibleEngine.open(
    parsed,
    "transcription",
    makeEngineServices(),
  )) as TranscriptionModel;
  const request = makeTranscriptionRequest({ file: uploadedFile(join(folder.path, "file"), "a.wav") });
  return outcomeOf(model, model.transcribe(request, signal));
}

async function chat(settings: object, signal: AbortSignal): Promise<unknown> {
  const parsed = openAiCompatibleSettings.parse(settings);
  const model = (await openAiCompatibleEngine.open(parsed, "chat", makeEngineServices())) as ChatProxy;
  return outcomeOf(model, forward(model, makeChatCall(), signal));
}

/** Returns the failure; undefined without one. */
async function outcomeOf(model: { close(): Promise<void> }, events: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _event of events);
    return undefined;
  } catch (failure) {
    return failure;
  } finally {
    await model.close();
  }
}

const ASKING = Object.entries(WAYS).flatMap(([way, settings]) => [
  { way, task: "chat", settings, ask: chat },
  { way, task: "transcription", settings, ask: transcribe },
]);

test.each(ASKING)("does not retry after a reset of a new connection: $task, $way", async ({ settings, ask }) => {
  onBytes = (socket) => socket.resetAndDestroy();
  expect(await ask(settings(), new AbortController().signal)).toMatchObject({ kind: "upstream-failed" });
  expect(connections).toBe(1);
});

test.each(ASKING)("closes a connecting socket on abort: $task, $way", async ({ settings, ask }) => {
  onBytes = () => {};
  const leaving = new AbortController();
  const asked = ask(settings(), leaving.signal);
  await eventually(() => expect(open.size).toBe(1));
  leaving.abort();
  await eventually(() => expect(open.size).toBe(0));
  expect(await asked).toBeUndefined();
});

test.each(ASKING.filter(({ way }) => way.includes("https") || way.includes("TLS")))(
  "reports a timeout when connecting takes too long: $task, $way",
  async ({ settings, ask }) => {
    onBytes = () => {};
    const asked = await ask({ ...settings(), connect_timeout_seconds: 0.5 }, new AbortController().signal);
    expect(asked).toMatchObject({ kind: "upstream-timeout", message: expect.stringContaining("connected to in time") });
    await eventually(() => expect(open.size).toBe(0));
  },
);
