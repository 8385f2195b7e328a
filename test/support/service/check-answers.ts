/**
 * Checks every JSON answer of the process that imports this module against the schema of its operation. An answer that
 * differs becomes a 500, which fails the test that asked for it.
 */

import { subscribe } from "node:diagnostics_channel";
import { isDeepStrictEqual } from "node:util";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Operation } from "../../../src/wire/openapi/operation.ts";

subscribe("fastify.initialization", (message) => {
  const { fastify } = message as { fastify: FastifyInstance };
  fastify.addHook("onSend", async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const { operation } = request.routeOptions.config;
    if (operation !== undefined && typeof payload === "string") check(operation, request, reply, payload);
    return payload;
  });
});

function check(operation: Operation, request: FastifyRequest, reply: FastifyReply, payload: string): void {
  const { answer, others = {} } = operation;
  const schema = reply.statusCode === 200 ? answer : others[reply.statusCode];
  const isJson = String(reply.getHeader("content-type")).includes("json");
  // Nobody reads the empty answer to a client that has disconnected.
  if (schema === undefined || !isJson || request.method === "HEAD" || payload === "{}") return;
  const sent = JSON.parse(payload) as unknown;
  const { success, error, data } = schema.safeParse(sent);
  const problem = success ? differenceOf(sent, data, "") : error.message;
  if (problem === undefined) return;
  throw new Error(`The answer of ${request.method} ${request.routeOptions.url} differs from its schema: ${problem}`);
}

/** Path of the first field that the schema does not have. */
function differenceOf(sent: unknown, parsed: unknown, path: string): string | undefined {
  if (isDeepStrictEqual(sent, parsed)) return undefined;
  if (typeof sent !== "object" || typeof parsed !== "object" || sent === null || parsed === null) return path;
  for (const [key, value] of Object.entries(sent)) {
    const inner = differenceOf(value, (parsed as Record<string, unknown>)[key], `${path}.${key}`);
    if (inner !== undefined) return inner;
  }
  return path;
}
