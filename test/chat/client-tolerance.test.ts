/** Client defaults that the service accepts: alternative keys, paths, IDs and cross-origin pages. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

const ECHO = "models: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]";
const BODY = { model: "parrot", messages: [{ role: "user", content: "hi" }] };
const PAGE = "https://chat.example.com";

let service: Service;
beforeAll(async () => {
  service = await startService({
    config: `builtin_models: false\nserver: { cors_origins: ["${PAGE}"], mismatched_ids: ignore }\n${ECHO}\n`,
    environment: { PARLANCE_TEST_ENGINES: "1" },
  });
});
afterAll(() => service?.stop());

describe("keys", () => {
  test.each(["authorization", "x-api-key", "api-key"])("are read from %s", async (header) => {
    const value = header === "authorization" ? `Bearer ${service.apiKey}` : service.apiKey;
    expect((await fetch(`${service.baseUrl}/models`, { headers: { [header]: value } })).status).toBe(200);
    const wrong = await fetch(`${service.baseUrl}/models`, { headers: { [header]: "Bearer sk-wrong" } });
    expect(wrong.status).toBe(401);
    expect(wrong.headers.get("www-authenticate")).toMatch(/^Bearer/);
  });
});

describe("paths", () => {
  test("names the path below /v1 when a client's base URL lacks it", async () => {
    const answer = await fetch(`${service.origin}/chat/completions`, { method: "POST" });
    expect(answer.status).toBe(404);
    const { error } = (await answer.json()) as { error: { message: string; code: string } };
    expect(error.message).toContain("/v1/chat/completions");
    expect(error.code).toBe("not_found");
  });

  test("names a code for a method that a path does not have", async () => {
    const answer = await service.fetch("/v1/chat/completions", { method: "PATCH" });
    expect(answer.status).toBe(405);
    expect(await answer.json()).toMatchObject({ error: { code: "method_not_allowed" } });
  });
});

test("ignores organization and project ids of another service when configured", async () => {
  const headers = { "OpenAI-Organization": "org-of-another", "OpenAI-Project": "proj_of_another" };
  const answer = await service.post("/v1/chat/completions", BODY, { headers });
  expect(answer.status).toBe(200);
});

describe("cross-origin pages", () => {
  const preflight = (origin: string) =>
    fetch(`${service.baseUrl}/chat/completions`, {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type, x-stainless-lang",
      },
    });

  test("may call the API from a configured origin", async () => {
    const answer = await preflight(PAGE);
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(answer.headers.get("access-control-allow-headers")).toContain("x-stainless-lang");
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
    const chat = await service.post("/v1/chat/completions", BODY, { headers: { origin: PAGE } });
    expect(chat.headers.get("access-control-allow-origin")).toBe(PAGE);
  });

  test("may also read errors", async () => {
    const refused = await fetch(`${service.baseUrl}/models`, { headers: { origin: PAGE } });
    expect(refused.status).toBe(401);
    expect(refused.headers.get("access-control-allow-origin")).toBe(PAGE);
  });

  test("may not call the API from other origins", async () => {
    expect((await preflight("https://evil.example.com")).headers.get("access-control-allow-origin")).not.toBe(
      "https://evil.example.com",
    );
  });
});
