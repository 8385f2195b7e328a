import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import type { Model } from "../../contracts/engine.ts";
import { openAiCompatibleEngine } from "./openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "./settings.ts";

let answer: (response: ServerResponse) => void;
let requests: { url: string | undefined; authorization: string | undefined }[] = [];
const server = createServer((request, response) => {
  requests.push({ url: request.url, authorization: request.headers.authorization });
  answer(response);
});
let baseUrl: string;
let model: Model;

beforeAll(async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const settings = openAiCompatibleSettings.parse({ base_url: baseUrl, api_key: "one", metrics_path: "/metrics" });
  model = await openAiCompatibleEngine.open(settings, "chat", makeEngineServices());
});
beforeEach(() => {
  requests = [];
});
afterAll(async () => {
  await model.close();
  server.closeAllConnections();
  server.close();
});

const read = (signal = AbortSignal.timeout(5000)) =>
  model.loadReport?.read(signal) ?? Promise.reject(new Error("none"));

test("reads no load without metrics_path", async () => {
  const plain = await openAiCompatibleEngine.open(
    openAiCompatibleSettings.parse({ base_url: baseUrl }),
    "chat",
    makeEngineServices(),
  );
  expect(plain.loadReport).toBeUndefined();
  await plain.close();
});

test("reads the load beside the base URL's path, with the operator's key", async () => {
  answer = (response) => response.end("vllm:num_requests_running 3\nvllm:num_requests_waiting 2\n");
  expect(await read()).toEqual({ running: 3, waiting: 2, cacheUsage: undefined });
  expect(requests).toEqual([{ url: "/metrics", authorization: "Bearer one" }]);
});

test.each([
  ["garbage", (response: ServerResponse) => response.end(Buffer.alloc(10_000, 0xff))],
  ["a refusal", (response: ServerResponse) => response.writeHead(501).end("{}")],
  ["a broken connection", (response: ServerResponse) => response.destroy()],
])("fails for %s", async (_what, answers: (response: ServerResponse) => void) => {
  answer = answers;
  await expect(read()).rejects.toThrow();
});

test("stops reading metrics of more than 4 MiB", async () => {
  let isClosed = false;
  let written = 0;
  answer = (response) => {
    response.on("close", () => {
      isClosed = true;
    });
    const more = () => {
      while (!isClosed) {
        written += 65_536;
        if (!response.write("x".repeat(65_536))) return;
      }
    };
    response.on("drain", more);
    more();
  };
  await expect(read(AbortSignal.timeout(30_000))).rejects.toThrow();
  // Kernel buffers hold a few MiB more.
  expect(written).toBeLessThan(32 * 1024 * 1024);
});

test("ends when its signal aborts, and closes the connection of an upstream that hangs", async () => {
  const closed = Promise.withResolvers<void>();
  answer = (response) => response.on("close", () => closed.resolve());
  await expect(read(AbortSignal.timeout(50))).rejects.toThrow();
  await closed.promise;
});
