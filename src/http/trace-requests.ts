/** One span per request, in which its handler runs. */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { type SpanOptions, type TraceSpan, type Tracing, within } from "../observability/trace.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined: not traced. */
    span?: TraceSpan;
  }
}

/** Health checks and metrics scrapes would fill the traces. */
const TRACED = /^\/(v[12]|api)\//;

export function traceRequests(app: FastifyInstance, tracing: Tracing | undefined): void {
  if (tracing === undefined) return;
  app.addHook("onRequest", (request, reply, done) => {
    if (!TRACED.test(request.url)) return done();
    const span = tracing.begin(request.headers, () => describe(request));
    request.span = span;
    if (!span.isRecorded) return done();
    reply.raw.on("close", () => {
      // The process that answers traces it.
      if (request.record.isPassedOn) return;
      const status = reply.raw.writableFinished ? reply.statusCode : 499;
      span.end(
        {
          "http.response.status_code": status,
          "parlance.project_id": request.caller?.projectId,
          "parlance.key_id": request.caller?.keyId,
        },
        status >= 500 ? (request.record.failure ?? new Error("failed")) : undefined,
      );
    });
    done();
  });
  // Events of the request's body run outside the span, and the handler after them.
  app.addHook("preHandler", (request, _reply, done) => within(request.span, done));
}

function describe(request: FastifyRequest): SpanOptions & { name: string } {
  const route = request.routeOptions.url ?? "unknown";
  return {
    name: `${request.method} ${route}`,
    kind: "server",
    attributes: {
      "http.request.method": request.method,
      "http.route": route,
      "url.path": request.url.split("?", 1)[0]?.slice(0, 200),
      "parlance.request_id": request.id,
    },
  };
}
