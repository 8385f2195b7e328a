/** An API with an OpenAPI document in YAML, and what a client has to survive of it. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface PetStore {
  origin: string;
  requests: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[];
  /** Calls of `/slow` whose client left. */
  aborted: number;
  /** Replaces the document. */
  document: string;
  close(): Promise<void>;
}

export const PET_STORE = `openapi: 3.0.3
info: { title: Pet store, version: 1.0.0 }
servers: [{ url: "/{stage}/v1", variables: { stage: { default: api } } }]
paths:
  /pets:
    parameters: [{ $ref: "#/components/parameters/Trace" }]
    get:
      operationId: list pets
      summary: Lists pets
      parameters:
        - { name: tags, in: query, schema: { type: array, items: { type: string } } }
        - { name: ids, in: query, explode: false, schema: { type: array, items: { type: integer } } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, properties: { status: { type: string } } } }
        - { name: Authorization, in: header, schema: { type: string } }
    post:
      operationId: addPet
      description: Adds a pet
      requestBody: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } } }
  /pets/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer, minimum: 0, exclusiveMinimum: true } }]
    get: { operationId: getPet }
    delete: { operationId: removePet, deprecated: true }
  /photos:
    post:
      operationId: addPhoto
      requestBody:
        content:
          multipart/form-data:
            schema: { type: object, properties: { pet: { type: integer }, photo: { type: string, format: binary } } }
    get: { operationId: getPhoto }
  /echo: { get: { operationId: echo }, post: { operationId: login, requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object } } } } } }
  /redirect: { get: { operationId: redirect } }
  /large: { get: { operationId: large } }
  /slow: { get: { operationId: slow } }
  /größe: { get: { operationId: size } }
  /files/{base}{suffix}: { get: { operationId: getFile, parameters: [{ name: base, in: path, schema: {} }, { name: suffix, in: path, schema: {} }] } }
  /elsewhere: { servers: [{ url: "http://169.254.169.254/" }], get: { operationId: elsewhere } }
  /cookies: { get: { operationId: cookies, parameters: [{ name: session, in: cookie, required: true, schema: {} }] } }
components:
  parameters:
    Trace: { name: X-Trace, in: header, schema: { type: string } }
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string, nullable: true }
        parent: { $ref: "#/components/schemas/Pet" }
        foreign: { $ref: "http://127.0.0.1:9/schema.json" }
`;

export async function startPetStore(): Promise<PetStore> {
  const store: Omit<PetStore, "origin" | "close"> = { requests: [], aborted: 0, document: PET_STORE };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url = "", headers } = request;
    const body = Buffer.concat(chunks).toString("latin1");
    store.requests.push({ method, url, headers, body });
    answer(store, response, { method, url, headers, body });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(store, {
    origin: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
}

function answer(
  store: Omit<PetStore, "origin" | "close">,
  response: ServerResponse,
  { method, url, headers, body }: PetStore["requests"][number],
): void {
  const json = (status: number, value: unknown) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  };
  const path = url.split("?")[0]?.replace("/api/v1", "") ?? "";
  if (path === "/openapi.yaml") {
    response.writeHead(200, { "content-type": "application/yaml" }).end(store.document);
  } else if (path === "/redirect") response.writeHead(302, { location: "http://127.0.0.1:9/inside" }).end();
  else if (path === "/large") response.end("x".repeat(3_000_000));
  else if (path === "/slow") {
    response.once("close", () => {
      store.aborted += 1;
    });
  } else if (path === "/photos" && method === "GET") {
    response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from("picture"));
  } else if (path === "/pets/404") json(404, { error: "There is no such pet." });
  else
    json(200, { method, url, body, authorization: headers.authorization ?? null, trace: headers["x-trace"] ?? null });
}
