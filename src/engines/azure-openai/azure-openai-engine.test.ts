import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { azureFormat } from "../../../test/support/upstreams/native/azure-format.ts";
import { toChunk, toSse } from "../../../test/support/upstreams/native/chat-completion-chunks.ts";
import { type StandIn, startStandIn } from "../../../test/support/upstreams/native/stand-in.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import { azureOpenAiEngine } from "./azure-openai-engine.ts";
import { azureOpenAiSettings } from "./settings.ts";

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn(azureFormat);
});
afterAll(() => standIn.close());

const never = () => new AbortController().signal;
const ANSWER = { headers: { "content-type": "text/event-stream" }, body: toSse([toChunk({ content: "Yes" }, "stop")]) };

async function open<Model>(task: "chat" | "embedding", fields: object): Promise<Model> {
  const settings = azureOpenAiSettings.parse({ base_url: standIn.origin, ...fields });
  return (await azureOpenAiEngine.open(settings, task, makeEngineServices())) as Model;
}

test("uses the v1 API of a resource by default, and that of deployments with a version", () => {
  const addressOf = (fields: object) => {
    const { baseUrl, abilities } = azureOpenAiSettings.parse({ resource: "my-res", ...fields });
    return [baseUrl, abilities.responses];
  };
  expect(addressOf({})).toEqual(["https://my-res.openai.azure.com/openai/v1", true]);
  expect(addressOf({ api_version: "2024-10-21", model: "gpt" })).toEqual([
    "https://my-res.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21",
    false,
  ]);
  expect(azureOpenAiSettings.safeParse({ resource: "r", api_version: "2024-10-21" }).error?.issues).toMatchObject([
    { path: ["model"] },
  ]);
});

test("embeds with the key of the resource", async () => {
  const model = await open<EmbeddingModel>("embedding", { api_key: "azure-key", model: "text-embedding-3-small" });
  standIn.reply({ body: { data: [{ index: 0, embedding: [1, 2] }], usage: { prompt_tokens: 3 } } });
  const request = { model: "test-model", inputs: ["Hi"], dimensions: 2, encoding: "float", project: "p" } as never;
  expect(await model.embed(request, never())).toMatchObject({ dimensions: 2, promptTokens: 3, estimated: false });
  expect(standIn.received.at(-1)).toMatchObject({
    path: "/openai/v1/embeddings",
    headers: { "api-key": "azure-key" },
    body: { model: "text-embedding-3-small", dimensions: 2 },
  });
  await model.close();
});

test("signs in as an application, again once its token expires, and reports a refusal without the secret", async () => {
  const forms: URLSearchParams[] = [];
  let status = 200;
  const entra = createServer(async (request, response) => {
    forms.push(new URLSearchParams(await text(request)));
    const body =
      status === 200 ? { access_token: `token-${forms.length}`, expires_in: 1 } : { error: "invalid_client" };
    response.writeHead(status).end(JSON.stringify({ ...body, path: request.url }));
  });
  await new Promise<void>((listening) => entra.listen(0, "127.0.0.1", listening));
  const authority = `http://127.0.0.1:${(entra.address() as AddressInfo).port}`;
  const entra_id = { tenant_id: "contoso", client_id: "app", client_secret: "hush", authority };
  const model = await open<ChatModel>("chat", { entra_id, model: "gpt" });
  const chat = () => readAnswer(model.chat(makeChatRequest(), never()));
  try {
    standIn.received.length = 0;
    standIn.reply(ANSWER, ANSWER);
    await chat();
    // Half of the token's second.
    const tokens = async () => {
      await chat().catch(() => undefined);
      return forms.length;
    };
    await expect.poll(tokens).toBeGreaterThan(1);
    expect(Object.fromEntries(forms[0] ?? [])).toEqual({
      grant_type: "client_credentials",
      client_id: "app",
      client_secret: "hush",
      scope: "https://cognitiveservices.azure.com/.default",
    });
    expect(standIn.received[0]?.headers.authorization).toBe("Bearer token-1");
    status = 401;
    await expect
      .poll(() =>
        chat().then(
          () => "answered",
          ({ kind, message }) => `${kind}: ${message}`,
        ),
      )
      .toBe("upstream-refused: The identity provider of `test-model` gave no access token (status 401).");
  } finally {
    await model.close();
    entra.close();
  }
});
