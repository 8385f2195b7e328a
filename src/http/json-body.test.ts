import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { useErrorFormat } from "./errors.ts";
import { useJsonBodies } from "./json-body.ts";

const MAX_BYTES = 20_000_000;

async function parse(body: string): Promise<{ status: number; message: string }> {
  const app = fastify({ bodyLimit: MAX_BYTES });
  app.decorateRequest("reportFailure", () => {});
  useErrorFormat(app);
  useJsonBodies(app);
  app.post("/", async (request) => ({ error: { message: JSON.stringify(request.body).slice(0, 100) } }));
  const headers = { "content-type": "application/json" };
  const answer = await app.inject({ method: "POST", url: "/", headers, payload: body });
  return { status: answer.statusCode, message: answer.json().error.message };
}

const repeat = (count: number, write: (index: number) => string) => Array.from({ length: count }, (_, i) => write(i));
const keys = (count: number) => `{${repeat(count, (index) => `"k${index}":1`)}}`;

test.each([
  ["a million keys", keys(1_000_000), "an object with more than 10000 keys"],
  ["a million keys in an object within", `{"metadata":${keys(1_000_000)}}`, "an object with more than 10000 keys"],
  ["three million objects", `{"stop":[${repeat(3_000_000, () => "{}")}]}`, "more than 100000 values"],
  ["a million numbers", `[${repeat(1_000_000, () => "1")}]`, "more than 100000 values"],
  ["keys spread over many objects", `[${repeat(20, () => keys(6000))}]`, "more than 100000 values"],
])("rejects %s while counting, before parsing", async (_what, body, message) => {
  expect(await parse(body)).toEqual({ status: 400, message: expect.stringContaining(message) });
});

test.each([
  ["10,000 keys", keys(10_000)],
  ["10,000 keys in each of two objects", `[${keys(10_000)},${keys(10_000)}]`],
  ["90,000 numbers", `[${repeat(90_000, () => "1")}]`],
  ["a text full of signs", JSON.stringify({ text: '{"a":[1,2]},\\'.repeat(100_000) })],
  ["128 levels", `${"[".repeat(128)}${"]".repeat(128)}`],
])("parses %s", async (_what, body) => {
  expect((await parse(body)).status).toBe(200);
});

test.each([
  ["129 levels", `${"[".repeat(129)}${"]".repeat(129)}`, "nested more than 128 levels deep"],
  ["more closing brackets than opening ones", "]".repeat(1000), "not valid JSON"],
  ["a text that does not end", '"\\', "not valid JSON"],
])("rejects %s", async (_what, body, message) => {
  expect(await parse(body)).toEqual({ status: 400, message: expect.stringContaining(message) });
});

test("answers a path that is not there before its body has arrived", async () => {
  const app = fastify();
  useErrorFormat(app);
  useJsonBodies(app);
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  const headers = "Host: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked";
  socket.write(`POST /nothing HTTP/1.1\r\n${headers}\r\n\r\n5\r\n{"a":\r\n`);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toContain("404 Not Found");
  socket.destroy();
  await app.close();
});
