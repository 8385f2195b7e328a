import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { eventually } from "../../../test/support/service/eventually.ts";
import { Fault, invalidRequest, unavailable } from "../../kernel/faults.ts";
import { type Arriving, ClientSocket, type ClientSocketOptions } from "./client-socket.ts";

let closing = new DisposableStack();
afterEach(() => {
  closing.dispose();
  closing = new DisposableStack();
});

/** Opens both ends of a connection over TCP. */
async function open(options: Partial<ClientSocketOptions & Pick<Arriving, "hold">> = {}) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  closing.defer(() => server.close());
  await once(server, "listening");
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [socket] = (await once(server, "connection")) as [WebSocket];
  const arriving = {
    connection: (socket as unknown as { _socket: Socket })._socket,
    hold: options.hold ?? (() => () => {}),
  };
  const connection = new ClientSocket({ socket, arriving, onMessage: async () => {}, onClose: () => {}, ...options });
  if (client.readyState !== client.OPEN) await once(client, "open");
  closing.defer(() => client.terminate());
  return { client, socket, connection };
}

test("handles one message at a time, and reads no more than it may keep", async () => {
  const gates: (() => void)[] = [];
  const seen: string[] = [];
  const { client, socket } = await open({
    onMessage: async (message) => {
      seen.push(message.toString("latin1", 0, 1));
      await new Promise<void>((resolve) => gates.push(resolve));
    },
  });
  for (const letter of "abcdef") client.send(letter.repeat(500_000));
  await eventually(() => expect(socket.isPaused).toBe(true));
  expect(seen).toEqual(["a"]);
  for (let handled = 1; handled <= 6; handled += 1) {
    await eventually(() => expect(seen).toHaveLength(handled));
    gates.shift()?.();
  }
  expect(seen.join("")).toBe("abcdef");
  await eventually(() => expect(socket.isPaused).toBe(false));
});

test("lets other work run between messages that take time", async () => {
  let handled = 0;
  let turns = 0;
  const { client } = await open({
    onMessage: async () => {
      const end = performance.now() + 4;
      while (performance.now() < end);
      handled += 1;
    },
  });
  const counting = setInterval(() => {
    turns += 1;
  }, 0);
  for (let index = 0; index < 100; index += 1) client.send("x");
  await eventually(() => expect(handled).toBe(100));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(20);
});

test("waits for a client that reads slowly, and cuts one that does not read", async () => {
  const { client, socket, connection } = await open({ maxUnreadSeconds: 0.5 });
  const closed = once(socket, "close");
  client.pause();
  const fill = () => {
    while (socket.bufferedAmount < 2 * 1024 ** 2) connection.send("x".repeat(100_000));
  };
  fill();
  const flushed = connection.flushed();
  client.resume();
  await flushed;
  expect(socket.readyState).toBe(socket.OPEN);
  client.pause();
  // The kernel's buffers grow while they are filled.
  while (socket.readyState === socket.OPEN) {
    fill();
    await connection.flushed();
  }
  await closed;
});

test("cuts a client with too much unread output at once", async () => {
  const { client, socket, connection } = await open();
  const closed = once(socket, "close");
  client.pause();
  for (let sent = 0; sent < 400; sent += 1) connection.send("x".repeat(100_000));
  await closed;
});

test.each([
  [unavailable("Stopping.", "server_is_overloaded", 1), 1001],
  [invalidRequest("Wrong.", undefined, "wrong"), 1008],
])("closes with a code for the reason", async (failure, code) => {
  const { client, connection } = await open();
  const closed = once(client, "close");
  connection.close(failure);
  const [given, reason] = await closed;
  expect(given).toBe(code);
  expect(String(reason)).toBe(failure.code);
});

test("counts a message while it arrives, until it has ended", async () => {
  let held = 0;
  const hold = (bytes: number) => {
    held += bytes;
    return () => {
      held -= bytes;
    };
  };
  const { client } = await open({ hold });
  client.send("a".repeat(1_000_000), { fin: false });
  await eventually(() => expect(held).toBeGreaterThan(700_000));
  client.send("b".repeat(1_000_000), { fin: false });
  await eventually(() => expect(held).toBeGreaterThan(1_700_000));
  client.send("c", { fin: true });
  await eventually(() => expect(held).toBe(0));
});

test("ends a connection whose message does not fit into memory", async () => {
  const full = new Fault("request-rate-limited", "too much", { code: "rate_limit_exceeded" });
  const { client } = await open({
    hold: () => {
      throw full;
    },
  });
  const closed = once(client, "close");
  client.send("a".repeat(1_000_000), { fin: false });
  expect((await closed)[0]).toBe(1013);
});
