/** The built-in fallback voice, by name and in place of the default one. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { wordErrors } from "../support/models/word-errors.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";

const NOBODY = "http://127.0.0.1:1";
const SENTENCE = "The weather in the mountains can change within a few minutes.";

let listener: ServiceProcess;
beforeAll(async () => {
  listener = await startServiceProcess({
    config: `
builtin_models: false
models:
  - id: moonshine-base-en
    task: transcription
    deployments: [{ engine: moonshine, model: moonshine-base-en }]
  - id: hibari
    task: speech
    fallbacks: [flite]
    deployments: [{ engine: kokoro, model: hibari }]
  - id: flite
    task: speech
    deployments: [{ engine: flite, voices: { heart: slt, narrator: rms } }]
`,
  });
});
afterAll(() => listener.stop());

async function hear(spoken: Response): Promise<string> {
  expect(spoken.status).toBe(200);
  const file = await toFile(Buffer.from(await spoken.arrayBuffer()), "spoken.mp3");
  const client = listener.client({ maxRetries: 20 });
  return (await client.audio.transcriptions.create({ model: "moonshine-base-en", file })).text;
}

const speak = (service: ServiceProcess, body: object) =>
  service.post("/v1/audio/speech", { model: "flite", voice: "alloy", input: SENTENCE, ...body });

test("starts the flite process with the first request", async () => {
  expect(await findChild(listener, "parlance flite")).toBeUndefined();
  const voices = (await (await listener.fetch("/v1/audio/voices?model=flite")).json()) as { data: { id: string }[] };
  expect(voices.data.map(({ id }) => id)).toContain("narrator");
  expect(await findChild(listener, "parlance flite")).toBeUndefined();
  expect((await speak(listener, { response_format: "pcm" })).status).toBe(200);
  expect(await findChild(listener, "parlance flite")).toBeGreaterThan(0);
});

describe("flite", () => {
  test.each(["slt", "rms", "awb", "kal16", "nova", "narrator"])("is understood with the voice %s", async (voice) => {
    const text = await hear(await speak(listener, { voice }));
    expect(wordErrors(SENTENCE, text), text).toBeLessThanOrEqual(2);
  });

  test("reads numbers, dates, amounts, addresses and signs", async () => {
    const input = "On 3/14/2024 at 9:05, **12** cafés paid €7 — or $5.50 👍 — at https://example.com.";
    const text = await hear(await speak(listener, { input }));
    for (const part of [/cafes/i, /dollars|\$/i, /euros|€/i, /example/i]) expect(text).toMatch(part);
  });

  test.each([
    ["without any English", "日本語だけ。"],
    ["of signs alone", "?!"],
  ])("rejects a text %s", async (_case, input) => {
    expect((await speak(listener, { input })).status).toBe(400);
  });

  test.each([
    ["a word without an end", "x".repeat(300)],
    ["what looks like an option of a command", "--help -t -o out.wav %s%n"],
    ["mixed scripts and directions", "Hello שלום and مرحبا \u202Ereversed\u202C, 日本 too."],
  ])("speaks %s", async (_case, input) => {
    const response = await speak(listener, { input, response_format: "pcm" });
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(24_000);
  });
});

test("falls back to flite when the default voice's process is killed, and names the deployment", async () => {
  const own = await speak(listener, { model: "hibari", voice: "heart" });
  expect(own.headers.get("x-parlance-deployment")).toBe("hibari");
  await own.arrayBuffer();
  // It restarts quickly, on a busy machine perhaps before the request.
  await eventually(async () => {
    await killChild(listener, "parlance hibari");
    const response = await speak(listener, { model: "hibari", voice: "heart" });
    await response.arrayBuffer();
    expect([response.status, response.headers.get("x-parlance-deployment")]).toEqual([200, "flite"]);
  }, 60);
});

describe("where no model can be fetched", () => {
  let folder: TemporaryDirectory;
  let cutOff: ServiceProcess;
  beforeAll(async () => {
    folder = await temporaryDirectory();
    cutOff = await startServiceProcess({
      config: "builtin_models: true\n",
      environment: {
        HF_ENDPOINT: NOBODY,
        PIP_INDEX_URL: NOBODY,
        npm_config_registry: NOBODY,
        PARLANCE_MODELS_DIR: folder.path,
      },
      until: "listening",
    });
    await eventually(async () => expect((await speak(cutOff, {})).status).toBe(200), 60);
  });
  afterAll(async () => {
    await cutOff.stop();
    await folder[Symbol.asyncDispose]();
  });

  test.each(["alloy", "heart"])("speaks the default model's %s with the built-in fallback", async (voice) => {
    const response = await speak(cutOff, { model: "hibari", voice });
    expect(response.headers.get("x-parlance-deployment")).toBe("flite");
    const text = await hear(response);
    expect(wordErrors(SENTENCE, text), text).toBeLessThanOrEqual(2);
  });

  test("lists flite and its voices", async () => {
    const { data } = (await (await cutOff.fetch("/v1/models")).json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toContain("flite");
    const voices = await cutOff.fetch("/v1/audio/voices?model=flite");
    const listed = ((await voices.json()) as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(listed).toEqual(expect.arrayContaining(["slt", "rms", "awb", "kal16", "alloy", "verse", "heart"]));
  });
});

async function findChild({ process: { pid } }: ServiceProcess, title: string): Promise<number | undefined> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid=,command="]);
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/));
  const child = rows.find(([, parent, ...command]) => Number(parent) === pid && command.join(" ").startsWith(title));
  return child === undefined ? undefined : Number(child[0]);
}

async function killChild(service: ServiceProcess, title: string): Promise<void> {
  const pid = await findChild(service, title);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
}
