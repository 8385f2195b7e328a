import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { Readable } from "node:stream";
import { fastify } from "fastify";
import { expect, test } from "vitest";
import { createLogger } from "../kernel/logger.ts";
import { useErrorFormat } from "./errors.ts";
import { FrameStream } from "./frame-stream.ts";
import { useRequestLog } from "./request-log.ts";

test.each([1, 2])("answers 500 when sending an answer throws, with %i requests at once", async (count) => {
  const app = fastify();
  const logger = createLogger("silent");
  useRequestLog(app, { logger, measure: () => {}, recordRequest: () => {}, catalogIdOf: () => undefined });
  useErrorFormat(app);
  // Fastify serializes JSON only for its own content type and fails while sending.
  app.get("/v1/broken", (_request, reply) => reply.header("content-type", "text/plain").send({}));
  const answers = await Promise.all(Array.from({ length: count }, () => app.inject("/v1/broken")));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(count).fill(500));
  for (const answer of answers) expect(answer.json().error.message).toMatch(/^The server failed/);
});

test.each([
  ["bytes", () => Readable.from(["late"], { objectMode: false })],
  ["events", () => new FrameStream(Readable.from(["late"]), String)],
])("logs no bug when an answer of %s begins after its client has left", async (_what, answer) => {
  const app = fastify();
  const logged: string[] = [];
  const logger = createLogger("info", { write: (line: string) => logged.push(line) });
  useRequestLog(app, { logger, measure: () => {}, recordRequest: () => {}, catalogIdOf: () => undefined });
  useErrorFormat(app);
  const [arrived, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.addHook("onError", async () => failed.resolve());
  app.post("/v1/late", async (_request, reply) => {
    const closed = once(reply.raw, "close");
    arrived.resolve();
    await closed;
    return reply.send(answer());
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const client = connect(port, "127.0.0.1");
  client.write("POST /v1/late HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
  await arrived.promise;
  client.destroy();
  await failed.promise;
  await app.close();
  expect(logged.join()).not.toContain("bug");
});
