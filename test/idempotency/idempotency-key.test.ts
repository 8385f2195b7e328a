/** `Idempotency-Key`: a repeated request gets the first answer and makes no second object, also at another replica. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../support/databases/databases.ts";
import { type Service, startService } from "../support/service/service.ts";

const databases = useDatabases();
const CONFIG = JSON.stringify({
  builtin_models: false,
  models: [{ id: "parrot", task: "chat", deployments: [{ engine: "scripted", echo: true }] }],
});
const KEY = "0b7c6c1e-1d0e-4a0e-8d66-2a2f0b7d5a11";

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  let service: Service;
  let other: Service;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    const shared = { DATABASE_URL: url?.reveal() ?? "", PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
    const environment = url === undefined ? {} : shared;
    service = await startService({ config: CONFIG, environment });
    other = url === undefined ? service : await startService({ config: CONFIG, environment });
  });
  afterAll(async () => {
    await service.stop();
    if (other !== service) await other.stop();
  });

  const send = async (path: string, body: object, idempotencyKey = KEY, at = service) => {
    const response = await at.fetch(path, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${service.apiKey}`, "content-type": "application/json" },
        "idempotency-key": idempotencyKey,
      },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers of several operations
    return { status: response.status, headers: response.headers, body: (await response.json()) as any };
  };
  const conversations = { metadata: { topic: kind } };

  test("answers an equal request with the first object, at each replica", async () => {
    const first = await send("/v1/conversations", conversations);
    expect(first.status).toBe(200);
    expect(first.headers.get("idempotent-replayed")).toBeNull();
    for (const at of [service, other]) {
      const again = await send("/v1/conversations", conversations, KEY, at);
      expect(again).toMatchObject({ status: 200, body: first.body });
      expect(again.headers.get("idempotent-replayed")).toBe("true");
    }
    expect((await send("/v1/conversations", conversations, "another key")).body.id).not.toBe(first.body.id);
  });

  test("keeps the status, and keys of other paths apart", async () => {
    const config = { type: "custom", item_schema: { type: "object" } };
    const grader = { ...{ type: "string_check", name: "equal", operation: "eq" }, input: "a", reference: "a" };
    const body = { data_source_config: config, testing_criteria: [grader] };
    const created = await send("/v1/evals", body);
    expect(created.status).toBe(201);
    expect(await send("/v1/evals", body)).toMatchObject({ status: 201, body: created.body });
  });

  test("runs equal requests at the same time once", async () => {
    const answers = await Promise.all(
      [service, other, service, other].map((at) => send("/v1/conversations", conversations, "at once", at)),
    );
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.id));
    expect(ids.size).toBe(1);
    for (const { status, body } of answers) {
      if (status !== 200)
        expect({ status, code: body.error.code }).toEqual({ status: 409, code: "idempotency_key_in_use" });
    }
  });

  test("refuses the key of another body, and runs a request again that failed", async () => {
    await send("/v1/conversations", conversations, "reused");
    const reused = await send("/v1/conversations", { metadata: { topic: "other" } }, "reused");
    expect(reused).toMatchObject({ status: 400, body: { error: { code: "idempotency_key_reused" } } });
    expect((await send("/v1/conversations", { metadata: 1 }, "fails")).status).toBe(400);
    expect((await send("/v1/conversations", conversations, "fails")).status).toBe(200);
  });

  test("answers each request to a model itself", async () => {
    const body = { model: "parrot", messages: [{ role: "user", content: "Hi" }] };
    const [first, second] = [await send("/v1/chat/completions", body), await send("/v1/chat/completions", body)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get("idempotent-replayed")).toBeNull();
    expect(second.body.id).not.toBe(first.body.id);
  });
});
