/** Gemini's API through its official client and the AI SDK, on the scripted engine, a local embedding model and an upstream. */

import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { ApiError, GoogleGenAI } from "@google/genai";
import { embedMany, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCRIPTED_CALLER } from "../support/models/scripted-caller.ts";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { deploymentAt } from "../support/upstreams/deployment-at.ts";

let upstream: Service;
let service: Service;
beforeAll(async () => {
  const minilm = "  - { id: minilm, task: embedding, deployments: [{ engine: sentence-embeddings }] }\n";
  upstream = await startService({ config: `builtin_models: false\nmodels:${SCRIPTED_CALLER}${minilm}` });
  service = await startService({
    config: `
builtin_models: false
models:${SCRIPTED_CALLER}
  - { id: far, task: chat, price: { prompt: "0.001" }, deployments: [${deploymentAt(upstream, "org/caller")}] }
${minilm}  - { id: far-minilm, task: embedding, deployments: [${deploymentAt(upstream, "minilm")}] }
  - { id: voice, task: speech, deployments: [{ engine: flite }] }
`,
  });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.stop();
});

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const client = (apiKey = service.apiKey, apiVersion?: "v1beta") =>
  new GoogleGenAI({
    apiKey,
    ...(apiVersion && { apiVersion }),
    httpOptions: { baseUrl: service.origin, retryOptions: { attempts: 1 } },
  });
const google = () => createGoogleGenerativeAI({ apiKey: service.apiKey, baseURL: `${service.origin}/v1beta` });
const lastRequest = () => service.log().findLast(({ msg }) => msg === "request");
const post = (path: string, body: object, headers: Record<string, string> = { "x-goog-api-key": service.apiKey }) =>
  fetch(`${service.origin}/v1beta/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

describe.each(["org/caller", "far"])("the model %s", (model) => {
  test("answers with usage", async () => {
    const answer = await client().models.generateContent({ model, contents: "Please count" });
    expect(answer.text).toBe("one two three four");
    expect(answer.candidates?.[0]?.finishReason).toBe("STOP");
    expect(answer).toMatchObject({ modelVersion: model, responseId: expect.any(String) });
    const { promptTokenCount = 0, candidatesTokenCount, totalTokenCount } = answer.usageMetadata ?? {};
    expect(candidatesTokenCount).toBe(4);
    expect(totalTokenCount).toBe(promptTokenCount + 4);
    await eventually(() => expect(lastRequest()).toMatchObject({ answeredBy: model, completionTokens: 4 }));
  });

  test("streams, as events and as an array", async () => {
    const pieces = await Array.fromAsync(await client().models.generateContentStream({ model, contents: "count" }));
    expect(pieces.map(({ text }) => text ?? "").join("")).toBe("one two three four");
    expect(pieces.at(-1)?.usageMetadata?.candidatesTokenCount).toBe(4);
    const contents = [{ parts: [{ text: "count" }] }];
    const response = await post(`models/${model}:streamGenerateContent`, { contents });
    expect(response.headers.get("content-type")).toContain("application/json");
    const array = (await response.json()) as typeof pieces;
    expect(array.flatMap(({ candidates = [] }) => candidates[0]?.content?.parts?.[0]?.text ?? []).join("")).toBe(
      "one two three four",
    );
  });

  test.each([false, true])("calls functions and reads their results, streamed: %s", async (isStreamed) => {
    const parameters = { type: "OBJECT", properties: { city: { type: "STRING", nullable: true } } } as never;
    const config = { tools: [{ functionDeclarations: [{ name: "weather", parameters }] }] };
    const contents: import("@google/genai").Content[] = [{ role: "user", parts: [{ text: "How is the weather?" }] }];
    const ask = async () => {
      const request = { model, contents, config };
      if (!isStreamed) return (await client().models.generateContent(request)).candidates?.[0]?.content?.parts ?? [];
      const pieces = await Array.fromAsync(await client().models.generateContentStream(request));
      return pieces.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    };
    const parts = await ask();
    const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
    expect(calls.map(({ args }) => args)).toEqual([{ city: "Łódź", days: 2 }, { city: "Kraków" }]);
    // Without IDs, as older clients send them.
    contents.push(
      {
        role: "model",
        parts: parts.map(({ functionCall, ...part }) =>
          functionCall ? { functionCall: { ...functionCall, id: undefined } } : part,
        ) as never,
      },
      {
        role: "user",
        parts: calls.map(({ name = "" }) => ({ functionResponse: { name, response: { sky: "sunny" } } })),
      },
    );
    expect((await ask()).map(({ text }) => text).join("")).toBe("It is sunny.");
  });

  test("shows thoughts where they are asked for", async () => {
    const ask = async (thinkingConfig: object) => {
      const answer = await client().models.generateContent({ model, contents: "ponder", config: { thinkingConfig } });
      return answer.candidates?.[0]?.content?.parts;
    };
    expect(await ask({ includeThoughts: true })).toEqual([
      { text: "I have to think.", thought: true },
      { text: "Done." },
    ]);
    expect(await ask({ thinkingBudget: 0 })).toEqual([{ text: "Done." }]);
    expect(await ask({})).toEqual([{ text: "Done." }]);
  });

  test("answers in JSON by Google's schema", async () => {
    const responseSchema = {
      type: "OBJECT",
      properties: { name: { type: "STRING" } },
      propertyOrdering: ["name"],
    } as never;
    const config = { responseMimeType: "application/json", responseSchema };
    const answer = await client().models.generateContent({ model, contents: "Who? Jane", config });
    expect(JSON.parse(answer.text ?? "")).toEqual({ name: "Jane" });
  });

  test("passes the configuration on", async () => {
    const ask = async (config: object) =>
      (await client().models.generateContent({ model, contents: "Please count", config })).candidates ?? [];
    const [cut] = await ask({ maxOutputTokens: 2 });
    expect(cut).toMatchObject({ finishReason: "MAX_TOKENS", content: { parts: [{ text: "one two" }] } });
    expect((await ask({ stopSequences: [" three"] }))[0]?.content?.parts).toEqual([{ text: "one two" }]);
    expect(await ask({ candidateCount: 2, temperature: 0, topK: 40, topP: 0.9, seed: 7 })).toMatchObject([
      { index: 0, content: { parts: [{ text: "one two three four" }] } },
      { index: 1, content: { parts: [{ text: "one two three four" }] } },
    ]);
    const [scored] = await ask({ responseLogprobs: true, logprobs: 2 });
    expect(scored?.logprobsResult?.chosenCandidates?.map(({ token }) => token).join("")).toBe("one two three four");
    expect(scored?.logprobsResult?.topCandidates?.[0]?.candidates).toHaveLength(2);
  });

  test("reads images, documents and system instructions", async () => {
    const contents = [
      { inlineData: { mimeType: "image/png", data: PNG } },
      { inlineData: { mimeType: "text/plain", data: Buffer.from("A note.").toString("base64") } },
      { text: "What is it?" },
    ];
    const config = { systemInstruction: "Be brief." };
    const { text, usageMetadata } = await client().models.generateContent({ model, contents, config });
    expect(text).toContain("A note.");
    expect(text).toContain("What is it?");
    expect(usageMetadata?.promptTokenCount).toBeGreaterThan(4);
  });

  test("reports a failure within a stream", async () => {
    const answer = client().models.generateContentStream({ model, contents: "this breaks" });
    await expect(answer.then((stream) => Array.fromAsync(stream))).rejects.toThrow(/Down|upstream/);
    const response = await post(`models/${model}:streamGenerateContent`, {
      contents: [{ parts: [{ text: "breaks" }] }],
    });
    expect(((await response.json()) as object[]).at(-1)).toMatchObject({ error: { code: 502, status: "UNAVAILABLE" } });
  });

  test("runs a tool and streams with the AI SDK", async () => {
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
      execute: async () => "sunny",
    });
    const options = { model: google()(`models/${model}`), maxRetries: 0, tools: { weather } };
    const { text } = await generateText({ ...options, prompt: "How is the weather?", stopWhen: stepCountIs(3) });
    expect(text).toBe("It is sunny.");
    const stream = streamText({ ...options, prompt: "count" });
    expect((await Array.fromAsync(stream.textStream)).join("")).toBe("one two three four");
    expect(await stream.totalUsage).toMatchObject({ outputTokens: 4 });
  });

  test("counts tokens", async () => {
    const one = await client().models.countTokens({ model, contents: "one" });
    const more = await client().models.countTokens({ model, contents: "one two three four five six seven" });
    expect(more.totalTokens ?? 0).toBeGreaterThan(one.totalTokens ?? 0);
    const generateContentRequest = { model: `models/${model}`, contents: [{ parts: [{ text: "one" }] }] };
    expect(await (await post(`models/${model}:countTokens`, { generateContentRequest })).json()).toEqual({
      totalTokens: one.totalTokens,
    });
  });
});

test.each(["minilm", "far-minilm"])("embeds texts with %s like the embeddings API", async (model) => {
  const { data } = await service.client().embeddings.create({ model, input: ["A cat.", "A dog."] });
  const vectors = data.map(({ embedding }) => embedding);
  const { embeddings } = await client().models.embedContent({ model, contents: ["A cat.", "A dog."] });
  expect(embeddings?.map(({ values }) => values)).toEqual(vectors);
  const embedding = google().textEmbeddingModel(model);
  expect((await embedMany({ model: embedding, values: ["A cat.", "A dog."] })).embeddings).toEqual(vectors);
  const single = await post(`models/${model}:embedContent`, {
    content: { parts: [{ text: "A cat." }] },
    task_type: "CLUSTERING",
  });
  expect(single.headers.get("x-parlance-ignored-fields")).toBe("taskType");
  expect(await single.json()).toMatchObject({ embedding: { values: vectors[0] } });
});

test("lists chat and embedding models in pages, and describes one", async () => {
  for (const version of ["v1beta", undefined] as const) {
    const pager = await client(service.apiKey, version).models.list({ config: { pageSize: 3 } });
    expect((await Array.fromAsync(pager)).map(({ name }) => name)).toEqual(
      ["org/caller", "far", "minilm", "far-minilm"].map((id) => `models/${id}`),
    );
  }
  expect(await client().models.get({ model: "org/caller" })).toMatchObject({
    name: "models/org/caller",
    inputTokenLimit: 4096,
    supportedActions: ["generateContent", "streamGenerateContent", "countTokens"],
  });
});

test("reads files of its project, and of no other", async () => {
  const file = new File(["The code is 4711."], "note.txt");
  const { id } = await service.client().files.create({ purpose: "user_data", file });
  const administer = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const response = await service.post(`/v1/organization/${path}`, body, { headers });
    return (await response.json()) as { id: string; api_key: { value: string } };
  };
  const project = await administer("projects", { name: "Other" });
  const { api_key: key } = await administer(`projects/${project.id}/service_accounts`, { name: "Caller" });
  const contents = [{ parts: [{ fileData: { fileUri: `files/${id}` } }, { text: "Which code?" }] }];
  for (const model of ["org/caller", "far"]) {
    const answer = await post(`models/${model}:generateContent`, { contents });
    expect(await answer.text()).toContain("4711");
    const stranger = await post(`models/${model}:generateContent`, { contents }, { "x-goog-api-key": key.value });
    expect(stranger.status).toBe(400);
    expect(await stranger.text()).not.toContain("4711");
  }
});

describe("keys and errors", () => {
  test("takes the key in the query, without a trace of it in the log", async () => {
    const contents = [{ parts: [{ text: "count" }] }];
    expect((await post(`models/far:generateContent?key=${service.apiKey}`, { contents }, {})).status).toBe(200);
    expect((await post("models/far:generateContent?key=sk-wrong", { contents }, {})).status).toBe(401);
    expect((await post("models/far:generateContent", { contents }, {})).status).toBe(401);
    expect(JSON.stringify(service.log())).not.toContain(service.apiKey);
  });

  test("refuses a wrong key as Google does", async () => {
    const failure = await client("sk-wrong")
      .models.generateContent({ model: "far", contents: "a" })
      .catch((each: unknown) => each);
    expect(failure).toBeInstanceOf(ApiError);
    expect((failure as ApiError).status).toBe(401);
    expect((failure as ApiError).message).toContain("API_KEY_INVALID");
  });

  const contents = [{ parts: [{ text: "a" }] }];
  const hi = { functionDeclarations: [{ name: "hi" }] };
  test.each([
    [{}, 400, "contents"],
    [{ contents: [] }, 400, "contents"],
    [{ contents: [{ parts: [{ executableCode: { code: "1" } }] }] }, 400, "contents[0].parts[0]"],
    [{ contents: [{ parts: [{ functionResponse: { name: "hi", response: {} } }] }] }, 400, "answers no functionCall"],
    [{ contents: [{ parts: [{ fileData: { fileUri: "gs://a/b.mp4", mimeType: "video/mp4" } }] }] }, 400, "fileUri"],
    [{ contents, tools: [{ googleSearch: {} }] }, 400, "tools[0].googleSearch"],
    [{ contents, tools: [hi, hi] }, 400, "declares 'hi' twice"],
    [
      { contents, tools: [hi], toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["x"] } } },
      400,
      "no function 'x'",
    ],
    [{ contents, cachedContent: "cachedContents/1" }, 400, "cachedContent"],
    [{ contents, generationConfig: { temperature: "hot" } }, 400, "generationConfig.temperature"],
    [{ contents, generationConfig: { responseModalities: ["IMAGE"] } }, 400, "responseModalities"],
    [{ contents, generationConfig: { responseSchema: { type: "OBJECT" } } }, 400, "responseMimeType"],
    [{ contents, model: "models/other" }, 400, "model"],
  ])("%j is a %i that names %s", async (body, status, name) => {
    const response = await post("models/far:generateContent", body);
    expect(response.status).toBe(status);
    const { error } = (await response.json()) as { error: { message: string; status: string } };
    expect(error.message).toContain(name);
    expect(error.status).toBe("INVALID_ARGUMENT");
  });

  test.each([
    ["models/nothing:generateContent", 404, "NOT_FOUND"],
    ["models/voice:generateContent", 400, "INVALID_ARGUMENT"],
    ["models/far:predict", 404, "NOT_FOUND"],
  ])("POST %s is a %i", async (path, status, name) => {
    const response = await post(path, { contents });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code: status, status: name } });
  });

  test("names fields without effect, and reads snake case", async () => {
    const body = {
      contents,
      safety_settings: [{ category: "HARM_CATEGORY_HARASSMENT", threshold: "BLOCK_NONE" }],
      generation_config: { max_output_tokens: 1, media_resolution: "MEDIA_RESOLUTION_LOW" },
    };
    const response = await post("models/org/caller:generateContent", body);
    expect(response.status).toBe(200);
    expect(response.headers.get("x-parlance-ignored-fields")).toBe("safetySettings, generationConfig.mediaResolution");
  });
});
