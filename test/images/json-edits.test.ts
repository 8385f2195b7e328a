/** Edits of images whose body is JSON: the images are data URLs, files of the project and addresses. */

import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBatch, readLines, untilEnded } from "../support/service/batches.ts";
import { type Service, startService } from "../support/service/service.ts";
import { type ImageUpstream, PIXEL, startImageUpstream } from "../support/upstreams/image-upstream.ts";

const DATA = `data:image/png;base64,${PIXEL}`;
const BYTES = Buffer.from(PIXEL, "base64");

let upstream: ImageUpstream;
let service: Service;
let client: OpenAI;
let file: OpenAI.FileObject;

beforeAll(async () => {
  upstream = await startImageUpstream();
  const deployment = `{ engine: openai-compatible, base_url: "${upstream.baseUrl}", model: gpt-image-1 }`;
  service = await startService({
    config: `
builtin_models: false
images: { max_images: 4, max_input_images: 2 }
models:
  - { id: painter, task: image, price: { image: "0.04" }, deployments: [{ engine: scripted, echo: true }] }
  - { id: gpt, task: image, price: { prompt: "0.000005", completion: "0.00004" }, deployments: [${deployment}] }
  - { id: guarded, task: image, guardrails: [{ type: pii }, { type: words, words: [dragon] }], deployments: [${deployment}] }
  - { id: chatty, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
  client = service.client({ maxRetries: 0 });
  file = await client.files.create({ file: await toFile(BYTES, "ada@example.com.png"), purpose: "vision" });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.[Symbol.asyncDispose]();
});

const edit = (body: object, as = client) =>
  as.post("/images/edits", { body: { model: "gpt", prompt: "add a moon", ...body } }) as Promise<OpenAI.ImagesResponse>;
const last = () => upstream.received.at(-1);

test("an upstream gets the images and the mask as the form that it knows", async () => {
  const answer = await edit({
    ...{ images: [{ image_url: DATA }, { file_id: file.id }], mask: { image_url: DATA } },
    ...{ n: 2, size: "1024x1024", input_fidelity: "high", moderation: "low" },
  });
  expect(answer).toMatchObject({ quality: "high", usage: { input_tokens: 14, output_tokens: 1_056 } });
  expect(answer.data).toHaveLength(2);
  const image = { name: "image.png", type: "image/png", bytes: BYTES.length };
  expect(last()?.path).toBe("/v1/images/edits");
  expect(last()?.fields).toEqual({
    ...{ model: "gpt-image-1", prompt: "add a moon", n: "2", size: "1024x1024" },
    ...{ input_fidelity: "high", moderation: "low", "image[]": [image, image], mask: image },
  });
});

test("a model of this service gets the same image from a body as from a form", async () => {
  const request = { model: "painter", prompt: "add a moon" };
  const ofForm = await client.images.edit({ ...request, image: await toFile(BYTES, "a.png") });
  const ofFile = await edit({ ...request, images: [{ file_id: file.id }] });
  const ofUrl = await edit({ ...request, images: [{ image_url: DATA }] });
  expect(ofFile.data).toEqual(ofForm.data);
  expect(ofUrl.data).toEqual(ofForm.data);
});

test("a place that a client leaves empty is none", async () => {
  for (const image of [
    { image_url: DATA, file_id: null },
    { image_url: null, file_id: file.id },
  ]) {
    expect((await edit({ model: "painter", images: [image], mask: image })).data).toHaveLength(1);
  }
});

test("an edit is streamed on request", async () => {
  const body = {
    model: "painter",
    prompt: "add a moon",
    images: [{ image_url: DATA }],
    stream: true,
    partial_images: 1,
  };
  const stream = await client.post("/images/edits", { body, stream: true });
  const events = await Array.fromAsync(stream as AsyncIterable<{ type: string }>);
  expect(events.map(({ type }) => type)).toEqual(["image_edit.partial_image", "image_edit.completed"]);
});

test.each([
  [{}, "images", ""],
  [{ images: [] }, "images", ""],
  [{ images: [{}] }, "images[0]", "either `image_url` or `file_id`"],
  [{ images: [{ image_url: DATA, file_id: "file-1" }] }, "images[0]", "either `image_url` or `file_id`"],
  [{ images: [{ image_url: DATA, detail: "high" }] }, "images[0].detail", ""],
  [{ images: Array(3).fill({ image_url: DATA }) }, "images", "an edit may have at most 2"],
  [{ images: [{ file_id: "file-nobody" }] }, "images[0].file_id", "This project has no file 'file-nobody'"],
  [{ images: [{ image_url: "data:text/plain;base64,aGVsbG8=" }] }, "images[0].image_url", "is not a PNG, JPEG or WebP"],
  [{ images: [{ image_url: DATA }], mask: { image_url: "data:," } }, "mask.image_url", "is not a PNG, JPEG or WebP"],
  [{ images: [{ image_url: "http://127.0.0.1:9/a.png" }] }, "images[0].image_url", "is not an address of the internet"],
  [{ images: [{ image_url: "file:///etc/passwd" }] }, "images[0].image_url", ""],
  [{ images: [{ image_url: DATA }], n: 5 }, "n", "a request may have at most 4 images"],
  [{ images: [{ image_url: DATA }], markup: "x" }, "markup", "send a mask"],
])("refuses %j", async (body, param, message) => {
  const before = upstream.received.length;
  await expect(edit(body)).rejects.toMatchObject({ status: 400, param, message: expect.stringContaining(message) });
  expect(upstream.received).toHaveLength(before);
});

test.each([
  ["application/json", 400, "The request has no body."],
  ["text/plain", 415, "must be multipart/form-data or application/json"],
])("says what the body has to be: %s", async (type, status, message) => {
  const headers = { authorization: `Bearer ${service.apiKey}`, "content-type": type };
  const answer = await service.fetch("/v1/images/edits", {
    method: "POST",
    headers,
    body: type === "text/plain" ? "x" : "",
  });
  expect(answer.status).toBe(status);
  expect(await answer.text()).toContain(message);
});

test("reads nothing for a model that may not answer", async () => {
  const images = [{ file_id: "file-nobody" }];
  await expect(edit({ model: "chatty", images })).rejects.toThrow("performs chat, not image");
  await expect(edit({ model: "none", images })).rejects.toMatchObject({ status: 404 });
});

test("other projects' files are not read", async () => {
  const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
  const admin = async (path: string, body: object) =>
    (await service.fetch(`/v1/organization/${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
  const { id } = (await admin("projects", { name: "Others" })) as { id: string };
  const { api_key } = (await admin(`projects/${id}/service_accounts`, { name: "reader" })) as {
    api_key: { value: string };
  };
  const other = service.client({ maxRetries: 0, apiKey: api_key.value });
  await expect(edit({ images: [{ file_id: file.id }] }, other)).rejects.toThrow(
    `This project has no file '${file.id}'`,
  );
});

describe("behind guardrails", () => {
  test("images that none can read are refused", async () => {
    const images = [{ image_url: DATA }];
    await expect(edit({ model: "guarded", images })).rejects.toThrow("The guardrail `pii` cannot read images");
    await expect(edit({ model: "guarded", prompt: "a dragon", images })).rejects.toMatchObject({ status: 400 });
  });
});

test("a batch edits images, and counts them", async () => {
  const url = "/v1/images/edits";
  const line = (custom_id: string, body: object) => ({ custom_id, method: "POST", url, body });
  const lines = [
    line("file", { model: "gpt", prompt: "add a moon", images: [{ file_id: file.id }] }),
    line("data", { model: "painter", prompt: "add a moon", images: [{ image_url: DATA }], n: 2 }),
    line("none", { model: "painter", prompt: "add a moon" }),
  ];
  const batch = await untilEnded(client, await createBatch(client, lines, { endpoint: url }));
  expect(batch).toMatchObject({ endpoint: url, status: "completed" });
  expect(batch.request_counts).toEqual({ total: 3, completed: 2, failed: 1 });
  expect(batch.usage).toMatchObject({ input_tokens: 14, output_tokens: 1_056 });
  const answers = await readLines(client, batch.output_file_id);
  const images = answers.map(({ custom_id, response }) => {
    const { data = [] } = (response?.body ?? {}) as unknown as OpenAI.ImagesResponse;
    return [custom_id, data.length];
  });
  expect(images.sort()).toEqual([
    ["data", 2],
    ["file", 1],
  ]);
  const [failed] = await readLines(client, batch.error_file_id);
  expect(failed).toMatchObject({ custom_id: "none", response: { status_code: 400 } });
  expect(failed?.response?.body).toMatchObject({ error: { param: "images" } });
});
