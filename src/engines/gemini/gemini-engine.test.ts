import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { geminiAnswer, geminiFormat } from "../../../test/support/upstreams/native/gemini-format.ts";
import { startGoogleOauth } from "../../../test/support/upstreams/native/google-oauth.ts";
import { type StandIn, startStandIn } from "../../../test/support/upstreams/native/stand-in.ts";
import type { ChatModel } from "../../contracts/chat-model.ts";
import type { EmbeddingModel } from "../../contracts/embedding-model.ts";
import { geminiEngine } from "./gemini-engine.ts";
import { geminiSettings } from "./settings.ts";

let standIn: StandIn;
beforeAll(async () => {
  standIn = await startStandIn(geminiFormat);
});
afterAll(() => standIn.close());

const never = () => new AbortController().signal;
const SSE = { "content-type": "text/event-stream" };
const USAGE = { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 };

async function open<Model>(task: "chat" | "embedding", fields: object = {}): Promise<Model> {
  const base = { base_url: `${standIn.origin}/v1beta`, model: "gemini-2.5-flash", api_key: "key" };
  const settings = geminiSettings.parse({ ...base, ...fields });
  return (await geminiEngine.open(settings, task, makeEngineServices())) as Model;
}

test("reports log probabilities and several choices", async () => {
  const model = await open<ChatModel>("chat");
  const candidate = (index: number, token: string) => ({
    index,
    content: { role: "model", parts: [{ text: token }] },
    finishReason: "STOP",
    logprobsResult: {
      chosenCandidates: [{ token, logProbability: -0.5, tokenId: 7 }],
      topCandidates: [
        {
          candidates: [
            { token, logProbability: -0.5 },
            { token: "?", logProbability: -2 },
          ],
        },
      ],
    },
  });
  const body = `data: ${JSON.stringify({ candidates: [candidate(0, "Yes"), candidate(1, "No")], usageMetadata: USAGE })}\n\n`;
  standIn.reply({ headers: SSE, body });
  const { events } = await readAnswer(model.chat(makeChatRequest({ choices: 2, topLogprobs: 2 }), never()));
  expect(standIn.received.at(-1)?.body).toMatchObject({
    generationConfig: { candidateCount: 2, responseLogprobs: true, logprobs: 2 },
  });
  const top = [
    { token: "No", logprob: -0.5, bytes: [78, 111] },
    { token: "?", logprob: -2, bytes: [63] },
  ];
  expect(events).toMatchObject([
    { type: "text", choice: 0, text: "Yes" },
    { type: "choice-end", choice: 0 },
    { type: "text", choice: 1, text: "No", logprobs: [{ ...top[0], top }] },
    { type: "choice-end", choice: 1 },
    { type: "finish" },
  ]);
  await model.close();
});

test("reports a prompt that the provider blocks", async () => {
  const model = await open<ChatModel>("chat");
  const event = { promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 4 } };
  standIn.reply({ headers: SSE, body: `data: ${JSON.stringify(event)}\n\n` });
  const { events } = await readAnswer(model.chat(makeChatRequest(), never()));
  expect(events).toMatchObject([
    { type: "choice-end", reason: "content_filter" },
    { type: "finish", usage: { promptTokens: 4, completionTokens: 0 } },
  ]);
  await model.close();
});

test("embeds texts in batches", async () => {
  const model = await open<EmbeddingModel>("embedding", { model: "gemini-embedding-001" });
  const embeddings = (count: number, value: number) => ({ embeddings: Array(count).fill({ values: [value, 1] }) });
  standIn.received.length = 0;
  standIn.reply({ body: embeddings(100, 2) }, { body: embeddings(1, 3) });
  const request = { model: "test-model", inputs: Array(101).fill("Hi"), dimensions: 2, project: "p" } as never;
  const { values, dimensions, estimated } = await model.embed(request, never());
  expect({ dimensions, length: values.length, last: [...values.slice(-2)], estimated }).toEqual({
    dimensions: 2,
    length: 202,
    last: [3, 1],
    estimated: true,
  });
  const [first, second] = standIn.received.map(({ body }) => body.requests as object[]);
  expect([first?.length, second]).toMatchObject([
    100,
    [{ model: "models/gemini-embedding-001", outputDimensionality: 2 }],
  ]);
  await model.close();
});

test("signs in with the key of a service account, once for requests that wait together", async () => {
  await using oauth = await startGoogleOauth();
  const model = await open<ChatModel>("chat", { api_key: undefined, service_account_file: oauth.keyFile });
  const answer = { headers: SSE, body: geminiAnswer([{ text: "Yes" }], "STOP", USAGE) };
  standIn.received.length = 0;
  standIn.reply(answer, answer);
  const chat = () => readAnswer(model.chat(makeChatRequest(), never()));
  expect((await Promise.all([chat(), chat()])).map(({ text: said }) => said)).toEqual(["Yes", "Yes"]);
  expect(standIn.received.map(({ headers }) => headers.authorization)).toEqual(["Bearer token-1", "Bearer token-1"]);
  expect(oauth.issued).toHaveLength(1);
  await model.close();
});

test("names what is wrong with the key of a service account", async () => {
  const fields = { api_key: undefined, service_account_file: "/nowhere/key.json" };
  await expect(open("chat", fields)).rejects.toThrow("/nowhere/key.json cannot be read (ENOENT)");
});
