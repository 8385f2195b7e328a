import type { FastifyPluginAsync } from "fastify";
import { VERSION } from "../../kernel/version.ts";
import { toOpenApiDocument } from "../../wire/openapi/document.ts";

/** GET /openapi.json. It needs no key, since it describes the program and not what runs on it. */
export function openApi(): FastifyPluginAsync {
  let text: string | undefined;
  return async (app) => {
    app.get("/openapi.json", async (_request, reply) => {
      text ??= JSON.stringify(toOpenApiDocument(VERSION));
      return reply.type("application/json; charset=utf-8").header("cache-control", "no-cache").send(text);
    });
  };
}
