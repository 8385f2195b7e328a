/** Converts every failure of a request to a Fault: Fastify's errors, malformed HTTP, bugs. */

import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault, invalidRequest } from "../kernel/faults.ts";
import { newOrderedId } from "../kernel/id.ts";
import { http } from "../kernel/node-http.ts";
import { toErrorAnswer } from "../wire/openai/error.ts";
import { SCIM_MEDIA_TYPE } from "../wire/scim/scim-error.ts";
import { speaksScim, toErrorAnswerFor } from "./error-format.ts";
import { SERVICE_HEADERS } from "./service-headers.ts";

/** Answers every failure in the wire format, unknown routes and wrong methods included. */
export function useErrorFormat(app: FastifyInstance): void {
  const { methodsOf, operations } = routeTable(app);
  app.setErrorHandler((error: FastifyError | Fault, request, reply) => {
    const failure = hasLeft(error, reply)
      ? new Fault("client-left", "The client left before its answer began.")
      : toFault(error, request);
    request.reportFailure(failure);
    // Fastify would close the connection at once, and a client that is still sending would see a reset instead of the
    // answer. Read and drop the rest of the body, for at most the time in which a request must arrive.
    if (failure instanceof Fault && failure.kind === "body-too-large") reply.removeHeader("connection");
    if (prefersNoContent(request, failure)) {
      return reply.code(204).header("preference-applied", ABSENT_PREFERENCE).send();
    }
    return sendFailure(reply, failure);
  });
  // Before anything reads the body: nobody has authenticated its sender.
  app.addHook("preParsing", (request, reply, payload, done) => {
    if (request.is404) void answerNotFound(request, reply);
    else done(null, payload);
  });
  app.setNotFoundHandler(answerNotFound);

  function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const [path = ""] = request.url.split("?", 1);
    const absent = absentPart(path, operations());
    const allowed = absent === undefined ? methodsOf(path) : [];
    const message = `Invalid URL (${request.method} ${path})`;
    // A route for every file of a folder has none of this name.
    if (allowed.length === 0 || allowed.includes(request.method === "HEAD" ? "GET" : request.method))
      return sendFailure(reply, new Fault("not-found", `${message}${hintFor(path, methodsOf, absent, operations())}`));
    reply.header("allow", allowed.join(", "));
    return sendFailure(
      reply,
      new Fault("method-not-allowed", `${message}: the methods allowed are ${allowed.join(", ")}`),
    );
  }
}

/** Makes a 404 of a setting that is not set a 204 (RFC 7240): browsers log each 404 as an error. */
const ABSENT_PREFERENCE = "absent=no-content";

/** Operations of OpenAI's API that this service may leave out. */
const MAYBE_ABSENT =
  /^\/v1\/(images|fine_tuning\/jobs|fine_tuning\/checkpoints|assistants|threads|evals|videos|containers)(\/|$)/;

/** Returns the part of the API that a path belongs to and that this service does not have. */
function absentPart(path: string, operations: readonly string[]): string | undefined {
  const [, part] = MAYBE_ABSENT.exec(path) ?? [];
  return part === undefined || operations.some((each) => each.startsWith(`/v1/${part}`)) ? undefined : part;
}

/** Suggests a path, because clients whose base URL lacks `/v1` request it without, or lists what there is. */
function hintFor(
  path: string,
  methodsOf: (path: string) => string[],
  absent: string | undefined,
  operations: readonly string[],
): string {
  if (absent !== undefined) return `. This service does not have ${absent}; it has ${operations.join(", ")}.`;
  const once = path.replace(/^\/v1(?=\/v1\/)/, "");
  if (once !== path) {
    const hint = methodsOf(once).length === 0 ? "" : ` Did you mean ${once}?`;
    return `. It has /v1 twice: leave it out of the base URL, since the client adds it.${hint}`;
  }
  const meant = `/v1${path}`;
  return methodsOf(meant).length === 0 ? "" : `. Did you mean ${meant}? The base URL ends in /v1.`;
}

function sendFailure(reply: FastifyReply, failure: unknown): FastifyReply {
  const { status, headers, body } = toErrorAnswerFor(reply.request, failure);
  const type = speaksScim(reply.request) ? SCIM_MEDIA_TYPE : "application/json";
  return reply.code(status).headers(headers).type(`${type}; charset=utf-8`).send(body);
}

function prefersNoContent({ method, headers }: FastifyRequest, failure: unknown): boolean {
  const isAbsent = failure instanceof Fault && failure.kind === "not-found";
  return isAbsent && method === "GET" && headers.prefer === ABSENT_PREFERENCE;
}

/** Whether a stream was not sent because its client is away, as the first of those whose requests share a run may be. */
function hasLeft({ code }: FastifyError | Fault, { raw }: FastifyReply): boolean {
  return code === "ERR_STREAM_PREMATURE_CLOSE" && raw.destroyed;
}

function toFault(error: FastifyError | Fault, request: FastifyRequest): unknown {
  if (error instanceof Fault) return error;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE": {
      const size = Number(request.headers["content-length"]);
      const actualSize = Number.isFinite(size) ? `it has ${size} bytes` : "it is longer";
      const message = `The request body may have at most ${request.routeOptions.bodyLimit} bytes; ${actualSize}.`;
      return new Fault("body-too-large", message);
    }
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE": {
      const contentType = request.headers["content-type"];
      const sent = contentType === undefined ? "no Content-Type was sent" : `not ${JSON.stringify(contentType)}`;
      return new Fault("unsupported-media-type", `The request body must be application/json; ${sent}.`);
    }
    case "FST_ERR_CTP_INVALID_JSON_BODY":
      return invalidRequest("The request body is not valid JSON.");
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return invalidRequest("The request body does not have the length that Content-Length says.");
    default:
      // Paths that cannot be those of files.
      if (error.statusCode === 403 || error.statusCode === 404) {
        return new Fault("not-found", `Invalid URL (${request.method} ${request.url.split("?", 1)[0]})`);
      }
      return error instanceof SyntaxError || error.statusCode === 400
        ? invalidRequest("The request could not be understood.")
        : error;
  }
}

interface RouteTable {
  /** Returns the methods of a path. */
  methodsOf(path: string): string[];
  /** Returns the paths of the operations on models, without parameters. */
  operations(): string[];
}

/** Records each route added from now on. */
function routeTable(app: FastifyInstance): RouteTable {
  const routes: { methods: string[]; url: string }[] = [];
  // Only paths without a route need them.
  let patterns: URLPattern[] | undefined;
  app.addHook("onRoute", ({ method, url }) => {
    const methods = [method].flat().filter((each) => each !== "HEAD" && each !== "OPTIONS");
    routes.push({ methods, url });
    patterns = undefined;
  });
  return {
    methodsOf: (path) => {
      patterns ??= routes.map(({ url }) => new URLPattern({ pathname: url }));
      const matching = routes.filter((_route, index) => patterns?.[index]?.test({ pathname: path }));
      return [...new Set(matching.flatMap(({ methods }) => methods))];
    },
    operations: () => {
      const matchingRoutes = routes.filter(
        ({ url }) => /^\/v1\/[a-z_/]*[a-z]$/.test(url) && !url.startsWith("/v1/organization"),
      );
      return [...new Set(matchingRoutes.map(({ url }) => url))].sort();
    },
  };
}

/** Answers invalid paths, for which no hook runs: undecodable ones, or with an overlong segment. */
export function answerUnroutable(error: FastifyError, { id, raw }: FastifyRequest, reply: FastifyReply): void {
  const [path = ""] = (raw.url ?? "").slice(0, 200).split("?", 1);
  const isTooLong = error.code === "FST_ERR_MAX_PARAM_LENGTH";
  const fault = isTooLong
    ? new Fault("not-found", `Invalid URL (${raw.method} ${path}…): a part of it is longer than any ID.`)
    : invalidRequest(`Invalid URL (${raw.method} ${path}): its percent-encoding is not that of UTF-8 text.`);
  answerWithoutRoute(reply.raw, fault, id);
}

/** Answers requests that reach neither a hook nor a route. */
export function answerWithoutRoute(response: ServerResponse, fault: Fault, id = newOrderedId("req_")): void {
  const { status, headers, body } = toErrorAnswer(fault, id);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "x-request-id": id,
    ...SERVICE_HEADERS,
    ...headers,
  });
  response.end(JSON.stringify(body));
}

/** Answers requests that Node's HTTP parser refuses, then closes the socket. */
export function answerBrokenHttp(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const requestId = newOrderedId("req_");
  const { status, body } = toErrorAnswer(brokenHttpFault(error.code), requestId);
  const json = JSON.stringify(body);
  socket.end(
    [
      `HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(json)}`,
      `x-request-id: ${requestId}`,
      "connection: close",
      "",
      json,
    ].join("\r\n"),
  );
}

function brokenHttpFault(code: string | undefined): Fault {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return new Fault("headers-too-large", "The request's headers exceed the limit of 16 KiB.");
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Fault("request-too-slow", "The request did not arrive completely within the time limit.");
    default:
      return invalidRequest("The request is not valid HTTP.");
  }
}
