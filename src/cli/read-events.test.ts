import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { readEvents } from "./read-events.ts";

async function readFrom(end: (response: ServerResponse) => void): Promise<unknown[]> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"file":"a"}\n\n', () => end(response));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return Array.fromAsync(readEvents(await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)));
}

test("reads events up to [DONE]", async () => {
  expect(await readFrom((response) => response.end("data: [DONE]\n\n"))).toEqual([{ file: "a" }]);
});

test.each([
  ["ends without [DONE]", (response: ServerResponse) => void response.end()],
  ["breaks", (response: ServerResponse) => void setTimeout(() => response.destroy(), 20)],
])("throws a Fault when the stream %s", async (_how, end) => {
  await expect(readFrom(end)).rejects.toMatchObject({
    kind: "upstream-failed",
    message: "The service closed the connection before its answer was complete.",
  });
});
