import type { FastifyPluginAsync } from "fastify";
import { z } from "zod";
import { operation, routes } from "../../http/operation.ts";
import { VERSION } from "../../kernel/version.ts";
import { toOpenApiDocument } from "../../wire/openapi/document.ts";
import { named } from "../../wire/openapi/named.ts";
import type { RegisteredOperation } from "../../wire/openapi/operation.ts";

const OpenApiDocument = named(
  "OpenApiDocument",
  z.looseObject({
    openapi: z.string(),
    info: z.looseObject({ title: z.string(), version: z.string() }),
    paths: z.record(z.string(), z.unknown()),
    components: z.record(z.string(), z.unknown()),
  }),
);

/** GET /openapi.json. It needs no key, since it describes the program and not what runs on it. */
export function openApi(operations: readonly RegisteredOperation[]): FastifyPluginAsync {
  let text: Promise<string> | undefined;
  return routes(
    operation(
      "GET /openapi.json",
      {
        summary: "Returns this API as an OpenAPI 3.1 document.",
        tag: "Service",
        permission: "public",
        answer: OpenApiDocument,
      },
      async ({ reply }) => {
        text ??= toOpenApiDocument(VERSION, operations).then((document) => JSON.stringify(document));
        return reply
          .type("application/json; charset=utf-8")
          .header("cache-control", "no-cache")
          .send(await text);
      },
    ),
  );
}
