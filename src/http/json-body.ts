import type { FastifyInstance, FastifyRequest } from "fastify";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import { keepSource } from "../kernel/json/json-source.ts";
import { LARGE_JSON_BYTES, parseLargeJson } from "../kernel/json/large-json.ts";
import { type ParsedJson, parseJson } from "../kernel/json/parse-json.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Maximum number of values in a body, for routes that take long arrays of numbers. */
    maxJsonValues?: number;
  }
  interface FastifyRequest {
    /** Size of a JSON body once it is decompressed. */
    bodyBytes?: number;
    /** Body as it was read and decompressed; only in scopes that keep it. */
    rawBody?: Buffer;
  }
}

/** Maximum number of values in a body. 33,000 one-word messages have this many and take 90 ms to parse and check. */
const MAX_VALUES = 100_000;

/**
 * Replaces Fastify's parsers with a JSON parser that reports syntax errors, requires UTF-8, and limits depth and size.
 */
export function useJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, parseBody);
}

/** Parses bodies of every type as JSON in this scope, for clients that send no type or another. */
export function acceptAnyJsonType(scope: FastifyInstance): void {
  scope.addContentTypeParser("*", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    // Browsers send other types across origins without asking first (CORS).
    if (request.headers.origin === undefined) parseBody(request, body, done);
    else done(new Fault("unsupported-media-type", "A web page must send its request body as application/json."));
  });
}

/** Keeps each body of this scope as it was read, for requests that another process has to answer. */
export function keepJsonBodies(scope: FastifyInstance): void {
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", { parseAs: "buffer" }, (request, body: Buffer, done) => {
    request.rawBody = body;
    parseBody(request, body, done);
  });
}

function parseBody(
  request: FastifyRequest,
  body: Buffer,
  done: (failure: Error | null, value?: unknown) => void,
): void {
  // Some clients send Content-Type without a body, such as OpenAI's Python client in DELETE requests. Routes that
  // need a body check for it.
  if (body.length === 0) {
    done(null);
    return;
  }
  request.bodyBytes = body.length;
  const limits = { maxValues: request.routeOptions.config.maxJsonValues ?? MAX_VALUES };
  const finish = (parsed: ParsedJson) => {
    if (parsed.problem !== undefined) return done(invalidRequest(`The request body ${parsed.problem}.`));
    keepSource(parsed.value, parsed.source);
    done(null, parsed.value);
  };
  if (body.length < LARGE_JSON_BYTES) finish(parseJson(body, limits));
  else parseLargeJson(body, limits).then(finish, done);
}
