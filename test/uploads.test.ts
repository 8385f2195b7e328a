/** Uploads: valid multipart bodies, size limits and removal of temporary files. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { toFile } from "openai";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "./support/eventually.ts";
import { type Service, startService } from "./support/service.ts";
import { temporaryDirectory } from "./support/temporary-directory.ts";
import { makeWave } from "./support/wave.ts";

const MAX_BYTES = 200_000;
const CONFIG = `
builtin_models: false
server: { max_upload_bytes: ${MAX_BYTES} }
models:
  - id: scripted
    task: transcription
    deployments:
      - engine: scripted
        slots: 2
        replies:
          - { match: slow, text: "One. Two. Three.", delay_ms_per_token: 20000 }
          - { match: late, text: "One.", delay_ms_before_first: 20000 }
          - { match: breaks, text: "One. Two.", fail_after_tokens: 1 }
          - { text: "One two. Three." }
`;
const WAVE = makeWave({ seconds: 2 });

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

const uploads = () => readdir(join(service.dataDirectory, "uploads"));
const nothingStays = () => eventually(async () => expect(await uploads()).toEqual([]));

function form(fields: Record<string, string> = {}, content: Uint8Array = WAVE, name = "audio.wav"): FormData {
  const made = new FormData();
  for (const [field, value] of Object.entries({ model: "scripted", ...fields })) made.append(field, value);
  made.append("file", new Blob([new Uint8Array(content)]), name);
  return made;
}

const post = (body: FormData, init: RequestInit = {}) =>
  service.fetch("/v1/audio/transcriptions", { method: "POST", body, ...init });

async function refusal(response: Response) {
  const { error } = (await response.json()) as {
    error: { message: string; param: string | null; code: string | null };
  };
  return { status: response.status, ...error };
}

/** Builds a body by hand, because no client would send it. */
function postRaw(body: string, contentType = "multipart/form-data; boundary=B"): Promise<Response> {
  return service.fetch("/v1/audio/transcriptions", {
    method: "POST",
    headers: { "content-type": contentType },
    body,
  });
}

const part = (name: string, value: string, file = "") =>
  `--B\r\ncontent-disposition: form-data; name="${name}"${file === "" ? "" : `; filename="${file}"`}\r\n\r\n${value}\r\n`;

test("transcribes every format of one recording", async () => {
  const { transcriptions } = service.client().audio;
  const ask = async (response_format: "json" | "text" | "srt" | "vtt") =>
    transcriptions.create({ model: "scripted", response_format, file: await toFile(WAVE, "a.wav") });
  expect(await ask("json")).toEqual({ text: "One two. Three.", usage: { type: "duration", seconds: 2 } });
  expect(await ask("text")).toBe("One two. Three.\n");
  expect(await ask("srt")).toBe(
    "1\n00:00:00,000 --> 00:00:01,000\nOne two.\n\n2\n00:00:01,000 --> 00:00:02,000\nThree.\n\n",
  );
  expect(await ask("vtt")).toBe(
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nOne two.\n\n00:00:01.000 --> 00:00:02.000\nThree.\n\n",
  );
  const verbose = await transcriptions.create({
    model: "scripted",
    file: await toFile(WAVE, "a.wav"),
    response_format: "verbose_json",
    timestamp_granularities: ["word"],
    language: "de",
    prompt: "x",
    temperature: 0.5,
  });
  expect(verbose).toEqual({
    task: "transcribe",
    language: "german",
    duration: 2,
    text: "One two. Three.",
    words: [
      { word: "One", start: 0, end: 0.5 },
      { word: "two.", start: 0.5, end: 1 },
      { word: "Three.", start: 1, end: 2 },
    ],
    usage: { type: "duration", seconds: 2 },
    x_unknown: ["tokens", "avg_logprob", "no_speech_prob"],
  });
  const translated = await service.client().audio.translations.create({
    model: "scripted",
    file: await toFile(WAVE, "a.wav"),
    response_format: "verbose_json",
  });
  expect(translated).toMatchObject({ task: "translate", duration: 2 });
  await nothingStays();
});

test("accepts a field after the file, and ignores a path in the file name", async () => {
  const body = new FormData();
  body.append("file", new Blob([new Uint8Array(WAVE)]), "../../../etc/passwd");
  body.append("model", "scripted");
  expect((await post(body)).status).toBe(200);
  await nothingStays();
});

test.each([
  ["without headers", "--B\r\n\r\n\r\n"],
  ["of nothing", "--B\r\n"],
  ["without a name", "--B\r\ncontent-type: text/plain\r\n\r\nx\r\n"],
])("counts parts %s, and rejects more than 102 without parsing them", async (_what, each) => {
  const answer = await postRaw(`${each.repeat(2000)}--B--\r\n`);
  expect(await refusal(answer)).toMatchObject({ status: 400, message: expect.stringContaining("At most 100 fields") });
  await nothingStays();
});

test("rejects a missing file, a file in another field, text as the file and two files", async () => {
  const none = new FormData();
  none.append("model", "scripted");
  expect(await refusal(await post(none))).toMatchObject({
    status: 400,
    param: "file",
    code: "missing_required_parameter",
  });
  none.append("file", "text");
  expect(await refusal(await post(none))).toMatchObject({ status: 400, param: "file", code: "invalid_type" });
  const other = new FormData();
  other.append("audio", new Blob([new Uint8Array(WAVE)]), "a.wav");
  expect(await refusal(await post(other))).toMatchObject({ status: 400, param: "audio" });
  const two = form();
  two.append("file", new Blob([new Uint8Array(WAVE)]), "b.wav");
  expect(await refusal(await post(two))).toMatchObject({ status: 400, param: "file" });
  expect(await refusal(await post(form({}, new Uint8Array(0))))).toMatchObject({ status: 400, param: "file" });
  await nothingStays();
});

test.each(["form-data", 'form-data; filename="a.wav"', 'form-data; n\u00e4me="model"'])(
  "rejects a part without a name: %s",
  async (disposition) => {
    const body = `--B\r\ncontent-disposition: ${disposition}\r\n\r\nscripted\r\n--B--\r\n`;
    const headers = { "content-type": "multipart/form-data; boundary=B" };
    const refused = await refusal(await service.fetch("/v1/audio/transcriptions", { method: "POST", headers, body }));
    expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(/needs a name|'model'/) });
  },
);

test("rejects a missing model, an unknown one and one of another task", async () => {
  const body = new FormData();
  body.append("file", new Blob([new Uint8Array(WAVE)]), "a.wav");
  expect(await refusal(await post(body))).toMatchObject({
    status: 400,
    param: "model",
    code: "missing_required_parameter",
  });
  expect(await refusal(await post(form({ model: "nobody" })))).toMatchObject({ status: 404, code: "model_not_found" });
  await nothingStays();
});

test.each([
  ["JSON instead of a form", '{"model":"scripted"}', "application/json", 415],
  ["no boundary", part("model", "scripted"), "multipart/form-data", 400],
  ["another boundary", `${part("model", "scripted")}--B--\r\n`, "multipart/form-data; boundary=C", 400],
  ["a body that breaks off", part("model", "scripted"), "multipart/form-data; boundary=B", 400],
  ["a file that breaks off", part("file", "RIFF", "a.wav"), "multipart/form-data; boundary=B", 400],
  ["no body", "", "multipart/form-data; boundary=B", 400],
  ["a field of 100 kB", `${part("prompt", "x".repeat(100_000))}--B--\r\n`, "multipart/form-data; boundary=B", 400],
  ["1,000 fields", `${part("a", "b").repeat(1000)}--B--\r\n`, "multipart/form-data; boundary=B", 400],
  [
    "fields named as parts of an object",
    `${part("__proto__[model]", "x")}--B--\r\n`,
    "multipart/form-data; boundary=B",
    400,
  ],
])("rejects %s", async (_name, body, contentType, status) => {
  const response = await postRaw(body, contentType);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  await nothingStays();
});

test("rejects an upload with a too large Content-Length at once, and closes its connection", async () => {
  const socket = await open("content-length: 1000000000\r\n");
  const answer = text(socket);
  const beganAt = performance.now();
  const sending = setInterval(() => {
    if (socket.writable) socket.write(Buffer.alloc(1000));
  }, 10);
  await once(socket, "readable");
  expect((performance.now() - beganAt) / 1000).toBeLessThan(4);
  await once(socket, "close");
  clearInterval(sending);
  expect(await answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*at most 200000 bytes/);
  await nothingStays();
});

test("rejects an upload without Content-Length once it exceeds the limit", async () => {
  const response = await post(form({}, new Uint8Array(MAX_BYTES + 1)));
  expect(await refusal(response)).toMatchObject({ status: 413, param: "file" });
  expect((await post(form({}, makeWave({ seconds: 6 })))).status).toBe(200);
  await nothingStays();
});

test("answers sixteen concurrent uploads", async () => {
  const answers = await Promise.all(Array.from({ length: 16 }, () => post(form({}, makeWave({ seconds: 6 })))));
  expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
  await nothingStays();
});

test("recovers after the upload folder was removed or replaced by a file", async () => {
  const folder = join(service.dataDirectory, "uploads");
  await rm(folder, { recursive: true });
  expect((await post(form())).status).toBe(200);
  await rm(folder, { recursive: true });
  await writeFile(folder, "");
  expect(await refusal(await post(form()))).toMatchObject({ status: 503, code: "server_is_overloaded" });
  await rm(folder);
  expect((await post(form())).status).toBe(200);
});

test("removes partial files when a client disconnects during an upload", async () => {
  const socket = await open("content-length: 100000\r\n");
  socket.write(part("file", "RIFF".repeat(1000), "a.wav"));
  await eventually(async () => expect(await uploads()).toHaveLength(1));
  socket.destroy();
  await nothingStays();
});

test.runIf(process.platform === "linux")("closes a file that is rejected or truncated", async () => {
  expect((await post(form({}, new Uint8Array(4 * MAX_BYTES)))).status).toBe(413);
  const socket = await open("content-length: 100000\r\n");
  socket.write(part("file", "RIFF".repeat(1000), "a.wav"));
  await eventually(async () => expect(await uploads()).toHaveLength(1));
  socket.destroy();
  await nothingStays();
  const descriptors = `/proc/${service.process.pid}/fd`;
  await eventually(async () => {
    const names = await readdir(descriptors);
    const targets = await Promise.all(names.map((name) => readlink(join(descriptors, name)).catch(() => "")));
    expect(targets.filter((target) => target.includes("/uploads/"))).toEqual([]);
  });
});

test.each(["late", "slow"])(
  "frees the model and the disk when a client disconnects during the answer (%s)",
  async (prompt) => {
    const leaving = new AbortController();
    const asked = post(form({ prompt, stream: "true" }), { signal: leaving.signal })
      .then((response) => response.body?.getReader().read())
      .catch(() => "left");
    const inUse = async () => /parlance_slots_in_use\{[^}]*\} 1/.test(await (await service.fetch("/metrics")).text());
    await eventually(async () => expect(await inUse()).toBe(true));
    leaving.abort();
    await asked;
    await eventually(async () => expect(await inUse()).toBe(false));
    await nothingStays();
  },
);

test("reports a failure in the stream, or as an HTTP error before the first output", async () => {
  const streamed = await (await post(form({ prompt: "breaks", stream: "true" }))).text();
  expect(streamed).toContain('"delta":"One."');
  expect(streamed).toContain('"error":{');
  expect(streamed).not.toContain("transcript.text.done");
  expect((await post(form({ prompt: "breaks" }))).status).toBe(503);
  await nothingStays();
});

test("removes files left by a crash at the next start", async () => {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  await using data = await temporaryDirectory();
  const folder = join(data.path, "uploads");
  for (const maker of [pid, process.pid]) {
    await mkdir(join(folder, `${hostname()}.${maker}.made`), { recursive: true });
    await writeFile(join(folder, `${hostname()}.${maker}.made`, "file"), "left");
  }
  const next = await startService({ config: CONFIG, environment: { PARLANCE_DATA_DIR: data.path } });
  // Files of another running process stay.
  expect(await readdir(folder)).toEqual([`${hostname()}.${process.pid}.made`]);
  await next.stop();
});

/** Starts a request without sending its body. */
async function open(headers: string): Promise<Socket> {
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${service.apiKey}\r\n` +
      `content-type: multipart/form-data; boundary=B\r\n${headers}\r\n`,
  );
  return socket;
}
