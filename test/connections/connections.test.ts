/** Limits of connections before a request is parsed: slow headers, too many at once, no file descriptors left. */

import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { makeWave } from "../support/service/wave.ts";
import { CHECKS_DURATIONS, expectWithin } from "../support/timing.ts";

const MAX_CONNECTIONS = 40;
const CONFIG = `
builtin_models: false
server: { max_connections_per_address: ${MAX_CONNECTIONS}, receive_timeout_seconds: ${CHECKS_DURATIONS ? 60 : 2} }
models:
  - { id: writer, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "One." }] }] }
`;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
});
afterAll(() => service.stop());

async function open(): Promise<Socket> {
  const socket = connect(Number(new URL(service.origin).port), "127.0.0.1");
  socket.on("error", () => {});
  // A refused connection may be reset before it counts as connected.
  await Promise.race([once(socket, "connect"), new Promise((closed) => socket.once("close", closed))]).catch(() => {});
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  if (!socket.closed) await once(socket, "close");
  return Buffer.concat(chunks).toString("utf8");
}

test.each([
  ["an Expect header of another kind", 417, "GET /health/live HTTP/1.1\r\nhost: x\r\nexpect: bogus\r\n\r\n", "bogus"],
  ["a missing Host header", 400, "GET /health/live HTTP/1.1\r\n\r\n", "Host"],
])("answers %s with the standard error body", async (_what, status, request, word) => {
  const socket = await open();
  socket.write(request);
  const [head = "", body = ""] = (await readAll(socket)).split("\r\n\r\n");
  expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(head).toContain("x-request-id: ");
  expect(body).toContain(word);
  expect(body).toContain('"type":"invalid_request_error","param":null,"code":null}}');
});

test("answers HTTP/1.0, which knows no Host header, and Expect: 100-continue", async () => {
  const old = await open();
  old.write("GET /health/live HTTP/1.0\r\n\r\n");
  expect(await readAll(old)).toMatch(/^HTTP\/1\.1 200 /);
  const careful = await open();
  careful.write(
    "GET /health/live HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 0\r\n\r\n",
  );
  expect(await readAll(careful)).toContain("HTTP/1.1 200 ");
});

test("closes a connection whose headers are incomplete after server.receive_timeout_seconds, or 15 s", async () => {
  const socket = await open();
  const startedAt = performance.now();
  socket.write("GET /health/live HTTP/1.1\r\nhost: x\r\n");
  const dribble = setInterval(() => socket.write("x: y\r\n"), 500);
  const answer = await readAll(socket);
  clearInterval(dribble);
  expectWithin(startedAt, 20_000);
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  expect(answer).toContain('"timeout_error"');
});

test("resets connections of one address beyond server.max_connections_per_address", async () => {
  const sockets = await Promise.all(Array.from({ length: 2 * MAX_CONNECTIONS }, open));
  await eventually(() => expect(sockets.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(MAX_CONNECTIONS));
  expect(sockets.filter(({ closed }) => !closed).length).toBeGreaterThan(MAX_CONNECTIONS / 2);
  for (const socket of sockets) socket.destroy();
  await eventually(async () => expect((await service.fetch("/health/live")).status).toBe(200));
});

const servicePid = () => service.log().find(({ msg }) => msg === "listening")?.pid;
const limitDescriptors = (count: number) =>
  execFileSync("prlimit", ["--pid", String(servicePid()), `--nofile=${count}:`]);

test.skipIf(process.platform !== "linux")(
  "logs connections refused for lack of file descriptors, and recovers afterwards",
  async () => {
    limitDescriptors(20);
    const sockets = Array.from({ length: 10 }, () => {
      const socket = connect(Number(new URL(service.origin).port), "127.0.0.1");
      return socket.on("error", () => {});
    });
    const refusals = () => service.log().filter(({ code }) => code === "EMFILE");
    await eventually(() => expect(refusals()).not.toHaveLength(0));
    expect(refusals()[0]).toMatchObject({ msg: expect.stringContaining("max_connections_per_address") });
    for (const socket of sockets) socket.destroy();
    limitDescriptors(4096);
    await eventually(async () => expect((await service.fetch("/health/live")).status).toBe(200));
  },
);

/** Also of its other threads. */
function childrenOf(pid: unknown): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}

/** Lets the service open `spare` more descriptors. */
function leaveDescriptors(spare: number): void {
  const open = new Set(readdirSync(`/proc/${servicePid()}/fd`).map(Number));
  let limit = 0;
  for (let free = 0; free < spare; limit += 1) if (!open.has(limit)) free += 1;
  limitDescriptors(limit);
}

test.skipIf(process.platform !== "linux")(
  "answers 503 when there are no file descriptors for a child process, and goes on",
  async () => {
    const transcribe = async () => {
      const body = new FormData();
      body.set("model", "writer");
      body.set("file", new Blob([new Uint8Array(makeWave())]), "speech.wav");
      // A connection that was kept has to be open while its descriptors are counted.
      const response = await service.fetch("/v1/audio/transcriptions", { method: "POST", body });
      return { status: response.status, answer: await response.json() };
    };
    expect(await transcribe()).toMatchObject({ status: 200 });
    // The process that waits for the next recording.
    await eventually(() => expect(childrenOf(servicePid())).toHaveLength(1));
    leaveDescriptors(4);
    for (const child of childrenOf(servicePid())) process.kill(child, "SIGKILL");
    await eventually(() => expect(childrenOf(servicePid())).toHaveLength(0));
    leaveDescriptors(4);
    const refused = { status: 503, answer: { error: { code: "server_is_overloaded" } } };
    expect(await transcribe()).toMatchObject(refused);
    expect(await transcribe()).toMatchObject(refused);
    limitDescriptors(4096);
    expect(await transcribe()).toMatchObject({ status: 200 });
  },
);
