import type { FastifyInstance } from "fastify";
import { invalidRequest } from "../faults.ts";
import { LARGE_JSON_BYTES, parseLargeJson } from "../json/large-json.ts";
import { type ParsedJson, parseJson } from "../json/parse-json.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Maximum number of values in a body, for routes that take long arrays of numbers. */
    maxJsonValues?: number;
  }
  interface FastifyRequest {
    /** Size of a JSON body once it is decompressed. */
    bodyBytes?: number;
  }
}

/** Maximum number of values in a body. 33,000 one-word messages have this many and take 90 ms to parse and check. */
const MAX_VALUES = 100_000;

/**
 * Replaces Fastify's parsers with a JSON parser that reports syntax errors, requires UTF-8, and limits depth and size.
 */
export function useJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    // Some clients send Content-Type without a body, such as OpenAI's Python client in DELETE requests. Routes that
    // need a body check for it.
    if (body.length === 0) return done(null);
    request.bodyBytes = body.length;
    const limits = { maxValues: request.routeOptions.config.maxJsonValues ?? MAX_VALUES };
    const finish = (parsed: ParsedJson) => {
      if (parsed.problem === undefined) done(null, parsed.value);
      else done(invalidRequest(`The request body ${parsed.problem}.`));
    };
    if (body.length < LARGE_JSON_BYTES) finish(parseJson(body, limits));
    else parseLargeJson(body, limits).then(finish, done);
  });
}
