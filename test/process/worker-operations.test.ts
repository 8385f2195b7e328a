/** Operations and pools that workers serve in place of the owner. */

import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedChat } from "../../src/engines/scripted/scripted-chat.ts";
import { scriptedSettings } from "../../src/engines/scripted/settings.ts";
import { APIS, PDF } from "../native-upstreams/apis.ts";
import { nameOf, PROVIDER_CASES } from "../native-upstreams/provider-cases.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../support/service/temporary-directory.ts";
import { type StandIn, startStandIn } from "../support/upstreams/native/stand-in.ts";
import { type OpenAiUpstream, startOpenAiUpstream } from "../support/upstreams/openai-upstream.ts";

const HOSTS = ["127.0.0.1", "127.0.0.2"] as const;

let directory: TemporaryDirectory;
let file: string;
let endpoints: OpenAiUpstream[];
let classifier: Server;
const started = new AsyncDisposableStack();
const standIns = new Map<string, StandIn>();
let service: ServiceProcess;
beforeAll(async () => {
  directory = await temporaryDirectory();
  file = join(directory.path, "endpoints.yaml");
  const chat = new ScriptedChat(scriptedSettings.parse({ replies: [{ text: "Here." }] }));
  const first = await startOpenAiUpstream(chat);
  endpoints = [first, await startOpenAiUpstream(chat, { host: HOSTS[1], port: first.port })];
  classifier = createServer(async (request, response) => {
    const body = (await json(request)) as { input?: unknown };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify(request.url?.endsWith("/moderations") ? moderation(body.input) : embeddings(body.input)),
    );
  });
  await new Promise<void>((listening) => classifier.listen(0, "127.0.0.1", listening));
  const { port } = classifier.address() as AddressInfo;
  const upstream = `deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:${port}/v1" }]`;
  const pool = `{ engine: openai-compatible, base_url: "http://pool.test:${first.port}/v1", endpoints: { file: "${file}", refresh_seconds: 0.1 } }`;
  await list(HOSTS[0]);
  for (const each of PROVIDER_CASES) {
    const standIn = await startStandIn(each.format);
    started.defer(() => standIn.close());
    if (each.start !== undefined) started.use(await each.start());
    standIns.set(nameOf(each), standIn);
  }
  const providers = PROVIDER_CASES.map((each) => {
    const settings = each.settings(standIns.get(nameOf(each))?.origin ?? "");
    return `  - ${JSON.stringify({ id: nameOf(each), task: "chat", deployments: [{ engine: each.engine, ...settings }] })}`;
  });
  service = await startServiceProcess({
    config: `
builtin_models: false
server: { workers: 2 }
models:
  - { id: pooled, task: chat, deployments: [${pool}] }
  - { id: judge, task: moderation, ${upstream} }
  - { id: ranker, task: embedding, ${upstream} }
${providers.join("\n")}
`,
  });
});
afterAll(async () => {
  await service?.stop();
  classifier?.close();
  await Promise.all((endpoints ?? []).map((each) => each.close()));
  await started.disposeAsync();
  await directory?.[Symbol.asyncDispose]();
});

/** Vectors of which equal texts have equal ones. */
function embeddings(input: unknown) {
  const texts = input as string[];
  const data = texts.map((text, index) => ({ object: "embedding", index, embedding: [text === "cats" ? 1 : 0, 1] }));
  return { object: "list", data, model: "ranker", usage: { prompt_tokens: texts.length, total_tokens: texts.length } };
}

function moderation(input: unknown) {
  const inputs = Array.isArray(input) ? input : [input];
  const result = { flagged: true, categories: { hate: true }, category_scores: { hate: 0.9 } };
  return { id: "modr-1", model: "judge", results: inputs.map(() => result) };
}

function list(...hosts: string[]): Promise<void> {
  return writeFile(file, JSON.stringify(hosts.map((host) => `${host}:${endpoints[0]?.port}`)));
}

/** Workers in the log lines of the requests for a model; undefined for those that the owner answered. */
function workersOf(model: string): Set<unknown> {
  const requests = service.log().filter((line) => line.msg === "request" && line.model === model);
  return new Set(requests.map(({ worker }) => worker));
}

/** Hosts that answer a few requests on connections of their own, which the workers take in turn. */
async function hostsThatAnswer(): Promise<string[]> {
  const before = endpoints.map(({ received }) => received.length);
  const body = { model: "pooled", messages: [{ role: "user", content: "Hm." }] };
  for (let request = 0; request < 8; request += 1) {
    const answer = await service.post("/v1/chat/completions", body, { headers: { connection: "close" } });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  }
  return HOSTS.filter((_host, index) => (endpoints[index]?.received.length ?? 0) > (before[index] ?? 0));
}

test("follow a pool of endpoints", async () => {
  expect(await hostsThatAnswer()).toEqual([HOSTS[0]]);
  await list(HOSTS[1]);
  await eventually(async () => expect(await hostsThatAnswer()).toEqual([HOSTS[1]]));
  await list(...HOSTS);
  await eventually(async () => expect(await hostsThatAnswer()).toEqual([...HOSTS]));
  await eventually(() => expect(workersOf("pooled")).toEqual(new Set([1, 2])));
});

test("leave an empty pool to the owner, which says why", async () => {
  const body = { model: "pooled", messages: [{ role: "user", content: "Hm." }] };
  await writeFile(file, "[]");
  await eventually(async () => {
    const answer = await service.post("/v1/chat/completions", body);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("no_endpoints")]);
  });
});

test("moderate and rank with models of upstreams", async () => {
  for (let request = 0; request < 4; request += 1) {
    const headers = { connection: "close" };
    const judged = await service.post("/v1/moderations", { model: "judge", input: "Grr." }, { headers });
    expect(await judged.json()).toMatchObject({ results: [{ flagged: true, categories: { hate: true } }] });
    const body = { model: "ranker", query: "cats", documents: ["dogs", "cats"], top_n: 1 };
    const ranked = await service.post("/v1/rerank", body, { headers });
    expect(await ranked.json()).toMatchObject({ results: [{ index: 1 }] });
  }
  await eventually(() => {
    for (const model of ["judge", "ranker"]) expect(workersOf(model)).toEqual(new Set([1, 2]));
  });
});

const ROWS = PROVIDER_CASES.flatMap((provider) =>
  APIS.map((api) => [nameOf(provider), api.name, provider, api] as const),
);

test.each(ROWS)("answer for the provider %s through %s", async (model, _name, { answers, forwarded }, api) => {
  const answer = forwarded?.api === api.name ? forwarded.toComplete(answers.text) : answers.text;
  standIns.get(model)?.reply(answer);

  expect(await api.ask(service, model, {})).toMatchObject({ text: "It is warm.", usage: { input: 90, output: 25 } });
  // The owner has Responses, which are stored.
  if (api.name === "Responses") return;
  await eventually(() => expect([...workersOf(model)].some((worker) => worker !== undefined)).toBe(true));
});

const DOCUMENT_APIS = APIS.map((api) => [api.name, api] as const);

test.each(DOCUMENT_APIS)("leave documents for a provider of texts to the owner, through %s", async (_name, api) => {
  const standIn = standIns.get("cohere");
  const provider = PROVIDER_CASES.find(({ engine }) => engine === "cohere");
  if (standIn === undefined || provider === undefined) throw new Error("no case");
  standIn.reply(provider.answers.text);

  expect((await api.ask(service, "cohere", { pdf: PDF })).text).toBe("It is warm.");
  expect(JSON.stringify(standIn.received.at(-1)?.body)).toContain("Tides follow the moon.");
});
