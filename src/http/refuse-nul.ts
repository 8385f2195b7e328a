import type { FastifyInstance } from "fastify";
import { invalidRequest } from "../kernel/faults.ts";

/** IDs, cursors and filters reach the database, and PostgreSQL refuses text with NUL (SQLSTATE 22021). */
export function refuseNul(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    done(request.url.includes("%00") ? invalidRequest("The URL must not contain a NUL character (%00).") : undefined);
  });
}
