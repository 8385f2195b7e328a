import { type AddressInfo, connect } from "node:net";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import { afterEach, expect, test } from "vitest";
import { Fault } from "../kernel/faults.ts";
import { BodyMemory, bodyMemoryOf, boundBodyMemory, type Holding, holderOf } from "./body-memory.ts";
import { useJsonBodies } from "./json-body.ts";

const LARGE = JSON.stringify({ text: "a".repeat(100_000) });
let app: FastifyInstance;
let answering: PromiseWithResolvers<void>;
afterEach(() => app.close());

/** `proven`: ends before a body is counted, as a key that has to be looked up. `handle`: begins the answer. */
async function start(
  maxBytes: number,
  proven?: (request: FastifyRequest) => Promise<void>,
  handle?: (reply: FastifyReply) => void | Promise<void>,
): Promise<BodyMemory> {
  app = fastify();
  answering = Promise.withResolvers();
  const memory = new BodyMemory(maxBytes);
  useJsonBodies(app);
  app.addHook("onRequest", async (request) => {
    request.caller = { kind: "project", organizationId: "o", projectId: String(request.headers.project), keyId: "k" };
    await proven?.(request);
  });
  boundBodyMemory(app, memory);
  app.setErrorHandler((error, _request, reply) => reply.code(error instanceof Fault ? 429 : 500).send(String(error)));
  app.post("/", async (_request, reply) => {
    await handle?.(reply);
    await answering.promise;
    return {};
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  return memory;
}

function send(project: string, body: NonNullable<RequestInit["body"]> = LARGE): Promise<Response> {
  const headers = { "content-type": "application/json", project };
  const origin = `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
  return fetch(origin, { method: "POST", headers, body, ...(typeof body === "string" ? {} : { duplex: "half" }) });
}

async function untilHeld(memory: BodyMemory, bytes: number): Promise<void> {
  await expect.poll(() => memory.heldBytes).toBe(bytes);
}

test("leaves half of the memory for bodies to other projects", async () => {
  const memory = await start(4 * LARGE.length);
  const first = [send("a"), send("a")];
  await untilHeld(memory, 2 * LARGE.length);
  expect((await send("a")).status).toBe(429);
  const second = [send("b"), send("b")];
  await untilHeld(memory, 4 * LARGE.length);
  expect((await send("c")).status).toBe(429);
  const small = send("a", "{}");
  answering.resolve();
  for (const answer of [...first, ...second, small]) expect((await answer).status).toBe(200);
  await untilHeld(memory, 0);
});

test("answers one body of any size, and counts chunked ones", async () => {
  const memory = await start(1);
  const one = send("a", new Blob([LARGE]).stream());
  await untilHeld(memory, LARGE.length);
  expect((await send("b")).status).toBe(429);
  answering.resolve();
  expect((await one).status).toBe(200);
  await untilHeld(memory, 0);
});

test("holds nothing for a client who left while the key was looked up", async () => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const memory = await start(4 * LARGE.length, async ({ raw }) => {
    arrived.resolve();
    await new Promise((closed) => raw.socket.once("close", closed));
    // The next hooks run within these turns.
    setImmediate(() => setImmediate(left.resolve));
  });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write(
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${LARGE.length}\r\n\r\n`,
  );
  await arrived.promise;
  socket.destroy();
  await left.promise;
  expect(memory.heldBytes).toBe(0);
});

test("counts chunked bodies while they arrive, and refuses the rest", async () => {
  const memory = await start(4 * LARGE.length);
  const arriving = new ReadableStream({
    start: (controller) => controller.enqueue(Buffer.alloc(3 * LARGE.length, " ")),
  });
  const first = send("a", arriving);
  first.catch(() => {});
  await untilHeld(memory, 3 * LARGE.length);
  expect((await send("b", new Blob([LARGE, LARGE]).stream())).status).toBe(429);
  expect((await send("a", new Blob([LARGE]).stream())).status).toBe(429);
  app.server.closeAllConnections();
  await untilHeld(memory, 0);
});

test("counts what a request reads elsewhere in addition to its body", async () => {
  const memory = await start(4 * LARGE.length, undefined, (reply) => holderOf(reply)(LARGE.length));
  const first = send("a");
  await untilHeld(memory, 2 * LARGE.length);
  expect((await send("a", "{}")).status).toBe(429);
  answering.resolve();
  expect((await first).status).toBe(200);
  await untilHeld(memory, 0);
});

test("counts what a run holds beyond its answer, until it is released", async () => {
  const holdings: Holding[] = [];
  const memory = await start(4 * LARGE.length, undefined, ({ request, raw }) => {
    holdings.push(bodyMemoryOf(request).detach(request, raw));
  });
  answering.resolve();
  const closed = new Promise((resolve) => app.server.once("request", (_, response) => response.once("close", resolve)));
  expect((await send("a")).status).toBe(200);
  await closed;
  expect(memory.heldBytes).toBe(LARGE.length);
  for (const { release } of [...holdings, ...holdings]) release();
  expect(memory.heldBytes).toBe(0);
});

test("begins no run for a client who has left, whose request counts no more", async () => {
  const began = Promise.withResolvers<unknown>();
  const memory = await start(4 * LARGE.length, undefined, async ({ request, raw }) => {
    await new Promise((closed) => raw.once("close", closed));
    try {
      bodyMemoryOf(request).detach(request, raw);
      began.resolve("begun");
    } catch (failure) {
      began.resolve(failure);
    }
  });
  const answered = send("a");
  answered.catch(() => {});
  await untilHeld(memory, LARGE.length);
  app.server.closeAllConnections();
  expect(await began.promise).toMatchObject({ kind: "client-left" });
  expect(memory.heldBytes).toBe(0);
});

test("reserves bytes of a project until they are released, once", () => {
  const memory = new BodyMemory(1_000_000);
  const releases = [memory.reserve("a", 300_000), memory.reserve("b", 100)];
  expect(memory.heldBytes).toBe(300_000);
  expect(() => memory.reserve("a", 300_000)).toThrow("this project");
  for (const release of [...releases, ...releases]) release();
  expect(memory.heldBytes).toBe(0);
});
