import { fastify } from "fastify";
import { expect, test } from "vitest";
import { createLogger } from "../kernel/logger.ts";
import { useErrorFormat } from "./errors.ts";
import { useRequestLog } from "./request-log.ts";

test.each([1, 2])("answers 500 when sending an answer throws, with %i requests at once", async (count) => {
  const app = fastify();
  const logger = createLogger("silent");
  useRequestLog(app, { logger, measure: () => {}, recordRequest: () => {}, catalogIdOf: () => undefined });
  useErrorFormat(app, 1024);
  // Fastify serializes JSON only for its own content type and fails while sending.
  app.get("/v1/broken", (_request, reply) => reply.header("content-type", "text/plain").send({}));
  const answers = await Promise.all(Array.from({ length: count }, () => app.inject("/v1/broken")));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(count).fill(500));
  for (const answer of answers) expect(answer.json().error.message).toMatch(/^The server failed/);
});
