import { Readable } from "node:stream";
import { expect, test } from "vitest";
import type { Caller } from "../../../contracts/caller.ts";
import { ResponseConnection } from "./response-connection.ts";
import { UnstoredResponses } from "./unstored-responses.ts";

const CALLER: Caller = { keyId: "key", organizationId: "org", projectId: "project", kind: "project" };

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** A connection to a service that accepts every request, with the bodies that it got. */
function connect() {
  const bodies: string[] = [];
  const events: { type: string; response?: { id: string } }[] = [];
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
    authenticate: async () => CALLER,
    send: (message) => void events.push(JSON.parse(message)),
    flushed: async () => {},
    reportBug: (failure) => {
      throw failure;
    },
    close: () => {},
  });
  /** Resolves with the ID of the prepared response. */
  const prepare = async (event: object): Promise<string> => {
    const before = events.length;
    const message = JSON.stringify({ type: "response.create", generate: false, model: "agent", ...event });
    await connection.receive(Buffer.from(message), false);
    await expect.poll(() => events.slice(before).at(-1)?.type, { interval: 1 }).toBe("response.completed");
    return events.at(-1)?.response?.id ?? "";
  };
  return { bodies, prepare };
}

test("continues a response of many megabytes without writing it again", async () => {
  const { bodies, prepare } = connect();
  const content = '"'.repeat(5_000_000);
  const input = [{ role: "user", content }];
  let id = await prepare({ input });
  const beforeWriting = cpuMs();
  for (let index = 0; index < 5; index += 1) JSON.stringify(input);
  const writingMs = cpuMs() - beforeWriting;
  const before = cpuMs();
  for (let index = 0; index < 5; index += 1) id = await prepare({ previous_response_id: id, input: `more ${index}` });
  expect(cpuMs() - before).toBeLessThan(writingMs);
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
