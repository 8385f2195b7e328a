import { Readable } from "node:stream";
import { afterEach, expect, test, vi } from "vitest";
import type { Caller } from "../../../contracts/caller.ts";
import { BodyMemory } from "../../../http/body-memory.ts";
import { Fault } from "../../../kernel/faults.ts";
import { ResponseConnection } from "./response-connection.ts";
import { UnstoredResponses } from "./unstored-responses.ts";

const CALLER: Caller = { keyId: "key", organizationId: "org", projectId: "project", kind: "project" };

interface Sent {
  type: string;
  response?: { id: string };
}

afterEach(() => void vi.restoreAllMocks());

/** A connection to a service that accepts every request, with the bodies that it got. */
function connect(hold: (bytes: number) => () => void = () => () => {}) {
  const bodies: string[] = [];
  let completed = Promise.withResolvers<string>();
  const connection = new ResponseConnection({
    requests: {
      stream: async ({ body = Buffer.alloc(0) }) => {
        bodies.push(Buffer.from(body.subarray(-200)).toString());
        return { status: 200, headers: {}, body: Readable.from([]) };
      },
    },
    unstored: new UnstoredResponses().open(),
    isStoring: false,
    requestId: "req",
    headers: {},
    address: "127.0.0.1",
    hold,
    authenticate: async () => CALLER,
    send: (message) => {
      const event: Sent = JSON.parse(message);
      if (event.type === "response.completed") completed.resolve(event.response?.id ?? "");
    },
    flushed: async () => {},
    reportBug: (failure) => {
      throw failure;
    },
    close: () => {},
  });
  /** Resolves with the ID of the prepared response. */
  const prepare = async (event: object): Promise<string> => {
    completed = Promise.withResolvers();
    const message = JSON.stringify({ type: "response.create", generate: false, model: "agent", ...event });
    await connection.receive(Buffer.from(message), false);
    return completed.promise;
  };
  return { bodies, prepare };
}

test("continues a response of many megabytes without writing it again", async () => {
  const { bodies, prepare } = connect();
  const content = '"'.repeat(5_000_000);
  const input = [{ role: "user", content }];
  let id = await prepare({ input });
  const written = vi.spyOn(JSON, "stringify");
  const read = vi.spyOn(JSON, "parse");
  for (let index = 0; index < 5; index += 1) id = await prepare({ previous_response_id: id, input: `more ${index}` });
  const texts = [...written.mock.results.map(({ value }) => value), ...read.mock.calls.map(([text]) => text)];
  expect(texts.length).toBeGreaterThan(10);
  expect(Math.max(...texts.map((text) => String(text).length))).toBeLessThan(10_000);
  const items = [0, 1].map((index) => JSON.stringify({ role: "user", content: `more ${index}` })).join();
  expect(bodies.at(2)?.endsWith(`"},${items}]}`)).toBe(true);
});

test("continues nothing by nothing", async () => {
  const { bodies, prepare } = connect();
  const id = await prepare({ input: [] });
  await prepare({ previous_response_id: id, input: [] });
  expect(bodies.map((body) => JSON.parse(body))).toEqual([
    { model: "agent", stream: true, input: "" },
    { model: "agent", stream: true, input: "" },
  ]);
});

test("holds what a turn has in memory until the turn has ended, and refuses a turn beyond", async () => {
  const memory = new BodyMemory(1_000_000);
  const { bodies, prepare } = connect((bytes) => {
    if (bytes > 1_000) throw new Fault("request-rate-limited", "too much");
    return memory.reserve("project", 100 * 1024);
  });
  await prepare({ input: "a" });
  expect(bodies).toHaveLength(1);
  await expect.poll(() => memory.heldBytes).toBe(0);
  void prepare({ input: "a".repeat(2_000) });
  await prepare({ input: "b" });
  expect(bodies).toHaveLength(2);
});
