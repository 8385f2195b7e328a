/** Uploads: size limits and removal of temporary files. */

import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";
import {
  form,
  MAX_UPLOAD_BYTES,
  part,
  refusal,
  UPLOAD_CONFIG,
  useUploadService,
} from "../support/service/upload-service.ts";
import { makeWave } from "../support/service/wave.ts";
import { expectWithin } from "../support/timing.ts";

const { running, post, uploads, nothingStays } = useUploadService();

test("rejects an upload with a too large Content-Length at once, and closes its connection", async () => {
  const socket = await open("content-length: 1000000000\r\n");
  // The connection may end with a reset, since the client sends on; `once` would reject with it.
  const closed = new Promise<void>((resolve) => void socket.on("error", () => {}).once("close", () => resolve()));
  let answer = "";
  socket.setEncoding("latin1").on("data", (data) => {
    answer += data;
  });
  const beganAt = performance.now();
  const sending = setInterval(() => {
    if (socket.writable) socket.write(Buffer.alloc(1000));
  }, 10);
  await once(socket, "data");
  expectWithin(beganAt, 4_000);
  await closed;
  clearInterval(sending);
  expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*at most 200000 bytes/);
  await nothingStays();
});

test("rejects an upload without Content-Length once it exceeds the limit", async () => {
  const response = await post(form({}, new Uint8Array(MAX_UPLOAD_BYTES + 1)));
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
  const folder = join(running().dataDirectory, "uploads");
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
  expect((await post(form({}, new Uint8Array(4 * MAX_UPLOAD_BYTES)))).status).toBe(413);
  const socket = await open("content-length: 100000\r\n");
  socket.write(part("file", "RIFF".repeat(1000), "a.wav"));
  await eventually(async () => expect(await uploads()).toHaveLength(1));
  socket.destroy();
  await nothingStays();
  const descriptors = `/proc/${running().process.pid}/fd`;
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
    const inUse = async () => /parlance_slots_in_use\{[^}]*\} 1/.test(await (await running().fetch("/metrics")).text());
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
  const next = await startServiceProcess({ config: UPLOAD_CONFIG, environment: { PARLANCE_DATA_DIR: data.path } });
  // Files of another running process stay.
  expect(await readdir(folder)).toEqual([`${hostname()}.${process.pid}.made`]);
  await next.stop();
});

/** Starts a request without sending its body. */
async function open(headers: string): Promise<Socket> {
  const { hostname, port } = new URL(running().origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  socket.write(
    `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running().apiKey}\r\n` +
      `content-type: multipart/form-data; boundary=B\r\n${headers}\r\n`,
  );
  return socket;
}
