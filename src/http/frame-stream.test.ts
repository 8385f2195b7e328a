import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { fastify } from "fastify";
import { afterEach, expect, test } from "vitest";
import { FrameStream } from "./frame-stream.ts";

let app = fastify();
afterEach(() => app.close());

async function serve(
  frames: () => AsyncIterable<string | Uint8Array>,
): Promise<{ origin: string; failures: unknown[] }> {
  app = fastify({ forceCloseConnections: true });
  const failures: unknown[] = [];
  app.get("/", (_request, reply) =>
    reply.send(
      new FrameStream(frames(), (failure) => {
        failures.push(failure);
        return "failed\n";
      }),
    ),
  );
  return { origin: await app.listen({ host: "127.0.0.1", port: 0 }), failures };
}

test("writes frames of both kinds and ends the response", async () => {
  const { origin } = await serve(async function* () {
    yield "one\n";
    yield Buffer.from("two\n");
  });
  for (let time = 0; time < 3; time += 1) expect(await (await fetch(origin)).text()).toBe("one\ntwo\n");
});

test("ends with the last frame of a failure, once", async () => {
  const { origin, failures } = await serve(async function* () {
    yield "one\n";
    throw new Error("broken");
  });
  expect(await (await fetch(origin)).text()).toBe("one\nfailed\n");
  expect(failures).toHaveLength(1);
});

test("asks for no more frames than a client reads", async () => {
  let asked = 0;
  const frame = "x".repeat(64 * 1024);
  const { origin } = await serve(async function* () {
    for (; asked < 10_000; asked += 1) yield frame;
  });
  const socket = connect(Number(new URL(origin).port), "127.0.0.1");
  await once(socket, "connect");
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  // Until the buffers of the connection are full.
  for (let before = -1; before !== asked || asked === 0; ) {
    before = asked;
    await pause(100);
  }
  expect(asked).toBeLessThan(2_000);
  socket.destroy();
});

test("ends the generator when the client leaves, also one that waits for room", async () => {
  for (const size of [10, 1_000_000]) {
    const ended = Promise.withResolvers<void>();
    const { origin } = await serve(async function* () {
      try {
        for (;;) {
          yield "x".repeat(size);
          await pause(5);
        }
      } finally {
        ended.resolve();
      }
    });
    const socket = connect(Number(new URL(origin).port), "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    socket.pause();
    await pause(100);
    socket.destroy();
    await ended.promise;
    await app.close();
  }
});
