import type { FastifyInstance } from "fastify";

/** Reads the key from `?key=`, where curl examples of Gemini's API have it. */
export function keyOfQuery(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    if (/^\/v1(?:beta)?\/models/.test(request.url)) {
      const { key } = request.query as { key?: unknown };
      if (typeof key === "string" && key !== "") request.headers["x-goog-api-key"] ??= key;
    }
    done();
  });
}
