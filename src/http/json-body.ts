import type { IncomingMessage } from "node:http";
import { errorCodes, type FastifyInstance, type FastifyRequest } from "fastify";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import { byteLength, joinChunks } from "../kernel/json/chunks.ts";
import { keepOutline } from "../kernel/json/json-outline.ts";
import { keepSource } from "../kernel/json/json-source.ts";
import { LARGE_JSON_BYTES, parseLargeJson } from "../kernel/json/large-json.ts";
import { type ParsedJson, parseJson } from "../kernel/json/parse-json.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Maximum number of values in a body, for routes that take long arrays of numbers. */
    maxJsonValues?: number;
    /** Whether long texts of `messages` stay in the bytes of a body until they are read. */
    outlinesMessages?: boolean;
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

/** Size from which an outline costs less than the strings that it leaves out. */
const MIN_OUTLINED_BYTES = 2_000;

/**
 * Replaces Fastify's parsers with a JSON parser that reports syntax errors, requires UTF-8, and limits depth and size.
 */
export function useJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  acceptJson(app);
}

/** Parses JSON in a scope that takes other bodies, too. */
export function acceptJson(scope: FastifyInstance): void {
  scope.addContentTypeParser("application/json", readBody);
}

/** Parses bodies of every type as JSON in this scope, for clients that send no type or another. */
export function acceptAnyJsonType(scope: FastifyInstance): void {
  scope.addContentTypeParser("*", (request, payload, done) => {
    // Browsers send other types across origins without asking first (CORS).
    if (request.headers.origin === undefined) readBody(request, payload, done);
    else done(new Fault("unsupported-media-type", "A web page must send its request body as application/json."));
  });
}

/** Keeps each body of this scope as it was read, for requests that another process has to answer. */
export function keepJsonBodies(scope: FastifyInstance): void {
  scope.removeContentTypeParser("application/json");
  scope.addContentTypeParser("application/json", (request, payload, done) => {
    readChunks(request, payload, (failure, chunks) => {
      if (failure !== null) return done(failure);
      request.rawBody = joinChunks(chunks);
      parseBody(request, [request.rawBody], done);
    });
  });
}

type Done = (failure: Error | null, value?: unknown) => void;

function readBody(request: FastifyRequest, payload: IncomingMessage, done: Done): void {
  readChunks(request, payload, (failure, chunks) => {
    if (failure === null) parseBody(request, chunks, done);
    else done(failure);
  });
}

/** Reads a body as Fastify does, but leaves it in the chunks that arrive, from which it is passed on. */
function readChunks(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (failure: Error | null, chunks: readonly Buffer[]) => void,
): void {
  const limit = request.routeOptions.bodyLimit;
  const { bodyMemory } = request.server;
  const announced = Number(request.headers["content-length"]);
  if (announced > limit) {
    done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE(), []);
    return;
  }
  const chunks: Buffer[] = [];
  let received = 0;
  const end = (failure: Error | null) => {
    payload.off("data", onData).off("end", onEnd).off("error", onError);
    done(failure, chunks);
  };
  const onData = (data: Buffer | string) => {
    const chunk = typeof data === "string" ? Buffer.from(data) : data;
    received += chunk.length;
    if (received > limit) return end(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
    try {
      bodyMemory?.grow(request, received);
    } catch (failure) {
      return end(failure as Error);
    }
    chunks.push(chunk);
  };
  const onEnd = () => {
    if (Number.isNaN(announced) || announced === received) end(null);
    else end(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
  };
  // A connection that breaks is the client's error.
  const onError = (failure: Error) => end(Object.assign(failure, { statusCode: 400 }));
  payload.on("data", onData).on("end", onEnd).on("error", onError).resume();
}

function parseBody(request: FastifyRequest, chunks: readonly Buffer[], done: Done): void {
  const length = byteLength(chunks);
  // Some clients send Content-Type without a body, such as OpenAI's Python client in DELETE requests. Routes that
  // need a body check for it.
  if (length === 0) {
    done(null);
    return;
  }
  request.bodyBytes = length;
  const { maxJsonValues: maxValues = MAX_VALUES, outlinesMessages = false } = request.routeOptions.config;
  const limits = { maxValues };
  const finish = (parsed: ParsedJson) => {
    if (parsed.problem !== undefined) return done(invalidRequest(`The request body ${parsed.problem}.`));
    keepSource(parsed.value, parsed.source);
    if (parsed.outline !== undefined) keepOutline(parsed.value as object, parsed.outline);
    done(null, parsed.value);
  };
  if (length >= LARGE_JSON_BYTES) parseLargeJson(joinChunks(chunks), limits).then(finish, done);
  else finish(parseJson(chunks, limits, outlinesMessages && length >= MIN_OUTLINED_BYTES));
}
