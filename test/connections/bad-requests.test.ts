/** Requests that fail before their fields are read: bodies, routes, keys and headers. */

import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { errorOf } from "../support/service/wire-error.ts";

const CONFIG = `
builtin_models: false
server:
  receive_timeout_seconds: 3
models:
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        echo: true
        context_window: 64
`;

let service: Service;
beforeAll(async () => {
  service = await startService({ config: CONFIG });
});
afterAll(() => service.stop());

const user = [{ role: "user", content: "Say hi." }];
const valid = { model: "parrot", messages: user };

describe("bodies", () => {
  const send = (body: string | Uint8Array, type = "application/json") =>
    service.fetch("/v1/chat/completions", { method: "POST", body, headers: { "content-type": type } });

  test("returns 400 for malformed JSON", async () => {
    const response = await send('{"model": "parrot",\n}');
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toBe(
      'The request body is not valid JSON: unexpected "}" at line 2, column 1.',
    );
    const large = await send(`{"model": "parrot",\n"x": "${"y".repeat(3_000_000)}" "z"}`);
    expect((await errorOf(large)).message).toContain('unexpected "\\"" at line 2, column 3000009');
  });

  test("rejects NaN as invalid JSON", async () => {
    expect((await send('{"model":"parrot","messages":[{"role":"user","content":"x"}],"temperature":NaN}')).status).toBe(
      400,
    );
  });

  test("returns 400 for an empty body", async () => {
    expect((await errorOf(await send(""))).message).toContain("empty");
  });

  test("returns 400 for invalid UTF-8 instead of replacing bytes silently", async () => {
    expect((await errorOf(await send(Buffer.from([0x22, 0xff, 0x22])))).message).toContain("UTF-8");
  });

  test("returns 413 for 30 MB of JSON and names the limit and the size", async () => {
    const body = JSON.stringify({ model: "parrot", messages: [{ role: "user", content: "x".repeat(30_000_000) }] });
    const response = await send(body);
    expect(response.status).toBe(413);
    const { message } = await errorOf(response);
    expect(message).toContain(String(body.length));
    expect(message).toMatch(/at most \d+ bytes/);
  });

  test("returns 400 for deeply nested JSON and keeps running", async () => {
    const response = await send("[".repeat(200_000) + "]".repeat(200_000));
    expect(response.status).toBe(400);
    expect((await errorOf(response)).message).toContain("nested");
    expect((await service.post("/v1/chat/completions", valid)).status).toBe(200);
  });

  test("does not count brackets inside strings as nesting", async () => {
    const content = '[{"\\'.repeat(100);
    const response = await service.post("/v1/chat/completions", { ...valid, messages: [{ role: "user", content }] });
    expect(response.status).toBe(200);
  });

  test("rejects a prototype key", async () => {
    expect((await send('{"model":"parrot","messages":[],"__proto__":{"x":1}}')).status).toBe(400);
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "returns 415 for %s",
    async (type) => {
      const response = await send("model=parrot", type);
      expect(response.status).toBe(415);
      expect((await errorOf(response)).message).toContain("application/json");
    },
  );

  test("closes only the affected connection when a body is truncated", async () => {
    const [head] = request({ "content-length": "500" });
    const socket = await open();
    socket.write(`${head}{"model":"par`);
    socket.destroy();
    expect((await service.post("/v1/chat/completions", valid)).status).toBe(200);
  });

  test("returns 408 and closes the connection when the body does not arrive completely", async () => {
    const [head] = request({ "content-length": "500" });
    const socket = await open();
    socket.write(`${head}{"model":"par`);
    const answer = await readAll(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(answer).toContain('"timeout_error"');
  });
});

describe("routes", () => {
  test("rejects an undecodable or overlong path with the standard error body", async () => {
    const undecodable = await service.fetch("/v1/models/%ff");
    expect(undecodable.status).toBe(400);
    expect((await errorOf(undecodable)).message).toContain("/v1/models/%ff");
    const long = await service.fetch(`/v1/models/${"x".repeat(501)}`);
    expect(long.status).toBe(404);
    await errorOf(long);
  });

  test("returns 404 for an unknown route and names it", async () => {
    const response = await service.post("/v1/completion", valid);
    expect(response.status).toBe(404);
    expect((await errorOf(response)).message).toBe("Invalid URL (POST /v1/completion)");
  });

  test.each([
    ["/chat/completions", "Did you mean /v1/chat/completions\\? The base URL ends in /v1\\."],
    ["/v1/v1/chat/completions", "It has /v1 twice: .* Did you mean /v1/chat/completions\\?"],
    ["/v1/v1/nowhere", "It has /v1 twice: leave it out of the base URL, since the client adds it\\.$"],
  ])("suggests the path for %s", async (path, hint) => {
    const response = await service.post(path, valid);
    expect(response.status).toBe(404);
    expect((await errorOf(response)).message).toMatch(new RegExp(hint));
  });

  test("says in the OpenAPI document and in each answer that the service is a beta", async () => {
    const document = (await (await service.fetch("/openapi.json")).json()) as { info: object };
    expect(document.info).toMatchObject({ "x-status": "beta", description: expect.stringContaining("Beta") });
    for (const path of ["/v1/models", "/v1/nowhere", "/health", "/v1/models/%ff"]) {
      expect((await service.fetch(path)).headers.get("x-parlance-status")).toBe("beta");
    }
  });

  test.each(["fine_tuning/jobs", "assistants", "videos"])(
    "returns 404 for /v1/%s, which is absent, and lists what there is",
    async (path) => {
      const response = await service.post(`/v1/${path}`, valid);
      expect(response.status).toBe(404);
      const { message } = await errorOf(response);
      expect(message).toContain(`This service does not have ${path}; it has /v1/audio/`);
      expect(message).toMatch(/\/v1\/chat\/completions, .*\/v1\/responses/);
      expect(message).not.toContain("organization");
    },
  );

  test("returns 405 for a wrong method and names the allowed ones", async () => {
    const response = await service.fetch("/v1/chat/completions", { method: "PATCH" });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST, GET");
    expect((await errorOf(response)).message).toContain("POST");
  });
});

test.each([
  ["PUT", "/v1/models/some/model", "DELETE, GET, POST"],
  ["DELETE", "/v1/organization/projects/proj_1", "GET, POST"],
])("returns 405 for %s %s, since the route accepts only %s", async (method, path, allowed) => {
  const response = await service.fetch(path, { method });
  expect(response.status).toBe(405);
  expect(response.headers.get("allow")).toBe(allowed);
});

describe("keys", () => {
  const withKey = (authorization: string) => service.fetch("/v1/models", { headers: { authorization } });

  test("returns 401 without a code for a missing key", async () => {
    const response = await fetch(`${service.baseUrl}/models`);
    expect(response.status).toBe(401);
    expect(await errorOf(response)).toMatchObject({ type: "invalid_request_error", code: null });
  });

  test.each([
    ["unknown", `Bearer sk-${"x".repeat(40)}`],
    ["malformed", "Bearer hello"],
    ["another scheme", "Basic dXNlcjpwYXNz"],
    ["a scheme that begins alike", "Bearers hello"],
    ["very long", `Bearer sk-${"x".repeat(9000)}`],
  ])("returns 401 invalid_api_key for %s without echoing it", async (_what, authorization) => {
    const response = await withKey(authorization);
    expect(response.status).toBe(401);
    const error = await errorOf(response);
    expect(error.code).toBe("invalid_api_key");
    expect(error.message).not.toContain(authorization.split(" ")[1]);
  });

  test.each(["bearer ", "BEARER    "])("accepts the authentication scheme %j", async (scheme) => {
    expect((await withKey(`${scheme}${service.apiKey}`)).status).toBe(200);
  });

  test("treats a scheme without a key as a missing key", async () => {
    const response = await withKey("Bearer");
    expect(response.status).toBe(401);
    expect((await errorOf(response)).code).toBeNull();
  });

  test("rejects an admin key on model routes", async () => {
    expect((await withKey(`Bearer ${service.adminKey}`)).status).toBe(401);
  });

  test("answers 1,000 wrong keys with 401 and then 429, and accepts a valid key afterwards", async () => {
    const statuses = new Map<number, number>();
    for (let batch = 0; batch < 20; batch += 1) {
      const wrong = Array.from({ length: 50 }, (_, index) => withKey(`Bearer sk-wrong-${batch}-${index}`));
      for (const response of await Promise.all(wrong)) {
        await response.arrayBuffer();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      }
    }
    expect([...statuses.keys()]).toEqual([401, 429]);
    expect(statuses.get(401)).toBeLessThanOrEqual(30);
    expect((await service.fetch("/v1/models")).status).toBe(200);
  });

  test("rejects a key that contains a newline", async () => {
    const socket = await open();
    socket.write("GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-a\nb\r\nconnection: close\r\n\r\n");
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 40[01] /);
  });

  test("returns 431 for a header of 100 KB", async () => {
    const socket = await open();
    socket.write(`GET /v1/models HTTP/1.1\r\nhost: x\r\nx-big: ${"x".repeat(100_000)}\r\n\r\n`);
    const answer = await readAll(socket);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"invalid_request_error"');
  });

  test("logs no part of a key", () => {
    expect(service.output()).not.toContain("sk-wrong");
    expect(service.output()).not.toContain(service.apiKey);
  });
});

function request(headers: Record<string, string>): [string] {
  const all = { host: "x", authorization: `Bearer ${service.apiKey}`, "content-type": "application/json", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return [`POST /v1/chat/completions HTTP/1.1\r\n${lines.join("")}\r\n`];
}

async function open() {
  const { hostname, port } = new URL(service.origin);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  return socket;
}

async function readAll(socket: ReturnType<typeof connect>): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk) => chunks.push(chunk));
  if (!socket.closed) await once(socket, "close");
  return Buffer.concat(chunks).toString("utf8");
}
