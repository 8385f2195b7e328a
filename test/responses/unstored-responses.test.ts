/** Services that store no responses. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useDatabases } from "../support/databases/databases.ts";
import { model, RESPONSE_CONFIG } from "../support/service/response-storage-services.ts";
import { type Service, startService } from "../support/service/service.ts";

const databases = useDatabases();

describe.each([
  ["responses.store: false", "sqlite", "responses: { store: false }\n"],
  ["PostgreSQL and no key", "postgresql", ""],
] as const)("with %s", (_name, kind, setting) => {
  let service: Service;
  let client: OpenAI;
  beforeAll(async () => {
    const { url } = await databases.create(kind);
    const environment: Record<string, string> = url === undefined ? {} : { DATABASE_URL: url.reveal() };
    service = await startService({ config: `${setting}${RESPONSE_CONFIG}`, environment });
    client = service.client({ maxRetries: 0 });
  });
  afterAll(() => service?.stop());

  test("answers without storing anything, and says so", async () => {
    const response = await client.responses.create({ model, input: "Hi", store: true });
    expect(response).toMatchObject({ store: false, output_text: "Hi" });
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({
      status: 404,
      code: "storage_disabled",
    });
    await expect(client.conversations.create()).rejects.toMatchObject({ status: 404, code: "storage_disabled" });
  });

  test.each([
    [{ previous_response_id: "resp_1" }, "previous_response_id"],
    [{ conversation: "conv_1" }, "conversation"],
    [{ background: true }, "background"],
    [{ input: [{ type: "item_reference" as const, id: "msg_1" }] }, "input[0].type"],
  ])("rejects %j", async (part, param) => {
    const failing = client.responses.create({ model, input: "Hi", ...part });
    await expect(failing).rejects.toMatchObject({ status: 400, param });
  });
});
