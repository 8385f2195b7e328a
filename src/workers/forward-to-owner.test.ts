import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { trustWorkers } from "../http/forwarded-address.ts";
import { ForwardToOwner } from "./forward-to-owner.ts";

const SECRET = "proof";
const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: owner\r\n\r\n";
const CHUNKED = `${SMUGGLED.length.toString(16)}\r\n${SMUGGLED}\r\n0\r\n\r\n`;

interface Seen {
  line: string;
  firstHeader: string | undefined;
  host: string | undefined;
  address: string | undefined;
}

/** Starts an owner, and a worker that passes everything on once `before` has ended. */
async function startPair(before: (request: IncomingMessage, response: ServerResponse) => unknown = () => {}) {
  const directory = await temporaryDirectory();
  const socketPath = join(directory.path, "owner.sock");
  const seen: Seen[] = [];
  const owner = createServer({ requireHostHeader: false }, async (request, response) => {
    const { method, url, headers, rawHeaders, socket } = request;
    const [firstHeader] = rawHeaders;
    seen.push({ line: `${method} ${url}`, firstHeader, host: headers.host, address: socket.remoteAddress });
    response.end(await text(request));
  });
  trustWorkers(owner, SECRET);
  const forward = new ForwardToOwner({ socketPath, secret: SECRET });
  const worker = createServer({ requireHostHeader: false }, async (request, response) => {
    await before(request, response);
    forward.forward(request, response);
  });
  await once(owner.listen(socketPath), "listening");
  await once(worker.listen(0, "127.0.0.1"), "listening");
  onTestFinished(async () => {
    forward.close();
    for (const server of [worker, owner]) {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
    await directory[Symbol.asyncDispose]();
  });
  const { port } = worker.address() as AddressInfo;
  /** Resolves with everything that the worker answers until it closes the connection. */
  const send = async (bytes: string) => {
    const socket = connect(port, "127.0.0.1");
    socket.write(bytes);
    return text(socket);
  };
  return { seen, send, port, forward };
}

test.each(["GET", "DELETE", "POST"])(
  "sends no body that its headers do not announce as a request, of %s",
  async (method) => {
    // As Node.js before 24.18, which keeps the first thousand headers.
    const { seen, send } = await startPair(({ headers }) => delete headers["transfer-encoding"]);
    await send(
      `${method} /asked HTTP/1.1\r\nHost: worker\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`,
    );
    await send("GET /next HTTP/1.1\r\nHost: worker\r\nConnection: close\r\n\r\n");
    expect(seen.map(({ line }) => line)).toEqual([`${method} /asked`, "GET /next"]);
  },
);

test("passes bodies on as they are announced", async () => {
  const { send } = await startPair();
  const chunked = `GET / HTTP/1.1\r\nHost: worker\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNKED}`;
  expect(await send(chunked)).toContain("/smuggled");
  const measured = "DELETE / HTTP/1.1\r\nHost: worker\r\nConnection: close\r\nContent-Length: 5\r\n\r\nHello";
  expect(await send(measured)).toMatch(/Hello$/);
});

test("proves the client's address before all that the client sends", async () => {
  const { seen, send } = await startPair();
  const forged = "x-parlance-worker-client: proof 192.0.2.1\r\n";
  await send(`GET / HTTP/1.1\r\n${forged}Host: worker\r\nConnection: close\r\n\r\n`);
  expect(seen).toMatchObject([{ firstHeader: "x-parlance-worker-client", host: "worker", address: "127.0.0.1" }]);
});

test("gives a request of HTTP/1.0 without a host the empty one, and no other request", async () => {
  const { seen, send } = await startPair();
  await send("GET / HTTP/1.0\r\n\r\n");
  await send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n");
  expect(seen.map(({ host }) => host)).toEqual(["", undefined]);
});

test("passes nothing on for a client who has left", async () => {
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { seen, send, port, forward } = await startPair(async ({ url }, response) => {
    if (url !== "/left") return;
    arrived.resolve();
    await once(response, "close");
    left.resolve();
  });
  const leaving = connect(port, "127.0.0.1");
  leaving.write("POST /left HTTP/1.1\r\nHost: worker\r\nContent-Length: 10\r\n\r\nHello");
  await arrived.promise;
  leaving.destroy();
  await left.promise;
  await send("GET /next HTTP/1.1\r\nHost: worker\r\nConnection: close\r\n\r\n");
  expect(seen.map(({ line }) => line)).toEqual(["GET /next"]);
  await expect.poll(() => forward.open).toBe(0);
});
