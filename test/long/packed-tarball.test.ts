/** The tarball of `npm run tarball`, installed into empty folders as a user does, with the default models. */

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer as createHttpServer, type Server } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL, TEST_MODELS_DIRECTORY } from "../support/models/default-model.ts";
import { wordErrors } from "../support/models/word-errors.ts";
import { cleanEnvironment } from "../support/service/clean-environment.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SENTENCE = "The weather is fine today, and we walk along the river.";
const run = promisify(execFile);

let folder: TemporaryDirectory;
let tarball: string;
let upstream: Server;
let service: ChildProcess;
let client: OpenAI;

beforeAll(async () => {
  folder = await temporaryDirectory();
  const manifest = join(ROOT, "package.json");
  const { mtimeMs } = await stat(manifest);
  const { stdout } = await npm(["run", "tarball", "--", "--json", "--pack-destination", folder.path], ROOT);
  // Packing that is interrupted must leave the manifest as it is, so no step may write to it.
  expect((await stat(manifest)).mtimeMs).toBe(mtimeMs);
  // The builds write before the JSON.
  const [{ filename }] = JSON.parse(stdout.slice(stdout.search(/^\[/m))) as [{ filename: string }];
  tarball = join(folder.path, filename);
  await npm(["install", "--prefix", folder.path, tarball], folder.path);
  upstream = await startUpstream('{"city": "Paris"}');
  const { port } = upstream.address() as AddressInfo;
  await writeFile(
    join(folder.path, "parlance.yaml"),
    `models:
  - id: far
    task: chat
    deployments:
      - { engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1", abilities: { json_schema: false } }
`,
  );
  ({ service, client } = await start(join(folder.path, "node_modules/.bin/parlance")));
}, 600_000);

afterAll(async () => {
  service?.kill();
  upstream?.close();
  await folder?.[Symbol.asyncDispose]();
});

test("contains the built console", async () => {
  const page = await fetch(new URL("/", client.baseURL));
  expect(page.status).toBe(200);
  const [, script = ""] = /src="\.(\/assets\/[\w.-]+\.js)"/.exec(await page.text()) ?? [];
  expect((await fetch(new URL(script, client.baseURL))).status).toBe(200);
});

test("installs from the registry alone, without GPU packages and install scripts", async () => {
  const lock = JSON.parse(await readFile(join(folder.path, "node_modules/.package-lock.json"), "utf8")) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  const packages = Object.entries(lock.packages);
  expect(packages.filter(([path]) => /cuda|vulkan/.test(path))).toEqual([]);
  expect(packages.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([]);
});

test("answers a chat", async () => {
  const { choices } = await client.chat.completions.create({
    model: DEFAULT_CHAT_MODEL,
    messages: [{ role: "user", content: "Write a short sentence about the sea." }],
    temperature: 0,
    max_completion_tokens: 24,
  });
  expect(choices[0]?.message.content).toMatch(/\w+ \w+ \w+/);
});

test("answers a chat that a JSON Schema constrains", async () => {
  const schema = { type: "object", properties: { city: { type: "string", maxLength: 20 } }, required: ["city"] };
  const { choices } = await client.chat.completions.create({
    model: DEFAULT_CHAT_MODEL,
    messages: [{ role: "user", content: "Name a city." }],
    response_format: { type: "json_schema", json_schema: { name: "city", schema } },
  });
  expect(JSON.parse(choices[0]?.message.content ?? "")).toEqual({ city: expect.any(String) });
});

test("validates an upstream's answer in a worker thread", async () => {
  const ask = (type: string) =>
    client.chat.completions.create({
      model: "far",
      messages: [{ role: "user", content: "Name a city." }],
      response_format: {
        type: "json_schema",
        json_schema: { name: "city", schema: { type: "object", properties: { city: { type } } } },
      },
    });
  expect((await ask("string")).choices[0]?.message.content).toBe('{"city": "Paris"}');
  await expect(ask("number")).rejects.toMatchObject({ status: 502, message: expect.stringContaining("/city") });
});

test("parses a large body in a worker thread", async () => {
  const content = "lorem ipsum ".repeat(150_000);
  const asked = client.chat.completions.create({ model: DEFAULT_CHAT_MODEL, messages: [{ role: "user", content }] });
  await expect(asked).rejects.toMatchObject({ status: 400, code: "context_length_exceeded" });
});

test("answers through the Responses and Messages APIs", async () => {
  const response = await client.responses.create({
    model: DEFAULT_CHAT_MODEL,
    input: "Say hello.",
    max_output_tokens: 16,
  });
  expect(response.output_text).toMatch(/\w/);
  const body = { model: DEFAULT_CHAT_MODEL, max_tokens: 16, messages: [{ role: "user", content: "Say hello." }] };
  const message = await client.post<{ content: { text: string }[] }>("/messages", { body });
  expect(message.content[0]?.text).toMatch(/\w/);
});

test("embeds texts and token IDs", async () => {
  const text = await client.embeddings.create({ model: "text-embedding-3-small", input: "Hello World" });
  const ids = await client.embeddings.create({ model: "text-embedding-3-small", input: [9906, 4435] });
  expect(text.data[0]?.embedding).toHaveLength(384);
  expect(ids.data[0]?.embedding).toEqual(text.data[0]?.embedding);
});

test("moderates", async () => {
  const { results } = await client.moderations.create({
    input: "I will find you and kill you, and then I will kill your whole family.",
  });
  expect(results[0]?.flagged).toBe(true);
});

test.each(["moonshine-base-en", "whisper-base"])("%s understands what the default voice says", async (model) => {
  const speech = await client.audio.speech.create({
    model: "hibari",
    voice: "heart",
    input: SENTENCE,
    response_format: "mp3",
  });
  const file = await toFile(await speech.arrayBuffer(), "speech.mp3");
  const { text } = await client.audio.transcriptions.create({ model, file });
  expect(wordErrors(SENTENCE, text)).toBeLessThanOrEqual(1);
});

test("runs when it is installed globally", async () => {
  const prefix = join(folder.path, "global");
  await npm(["install", "--global", "--prefix", prefix, tarball], folder.path);
  const { stdout } = await run(join(prefix, "bin/parlance"), ["models", "list"], {
    cwd: folder.path,
    env: environment({ PARLANCE_MODELS_DIR: TEST_MODELS_DIRECTORY }),
  });
  expect(stdout).toContain(DEFAULT_CHAT_MODEL);
});

/** An upstream that gives the same complete answer to every request. */
async function startUpstream(content: string): Promise<Server> {
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  const server = createHttpServer((request, response) => {
    const answer = JSON.stringify({ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "far", choices });
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end(answer));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return server;
}

function npm(words: string[], cwd: string): Promise<{ stdout: string }> {
  return run("npm", words, { cwd, env: environment({}), maxBuffer: 64 * 1024 * 1024 });
}

/** A user's environment, without the settings of the checkout that npm passes to its scripts. */
function environment(more: Record<string, string>): Record<string, string> {
  const own = Object.entries(cleanEnvironment()).filter(
    ([name]) => !/^npm_(config_onnx|package_|lifecycle_)/i.test(name),
  );
  return { ...Object.fromEntries(own), ...more };
}

async function start(executable: string): Promise<{ service: ChildProcess; client: OpenAI }> {
  const port = await freePort();
  const service = spawn(executable, ["serve"], {
    cwd: folder.path,
    env: environment({
      PARLANCE_PORT: String(port),
      PARLANCE_API_KEY: "sk-packed-tarball-test-0123456789",
      PARLANCE_MODELS_DIR: TEST_MODELS_DIRECTORY,
    }),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1`, apiKey: "sk-packed-tarball-test-0123456789" });
  for await (const line of createInterface({ input: service.stdout })) {
    if (line.includes("curl")) break;
  }
  service.stdout.resume();
  return { service, client };
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((done, fail) => {
    server.once("error", fail);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => (address && typeof address === "object" ? done(address.port) : fail(new Error("no port"))));
    });
  });
}
