/** Images with the official client: a scripted model that paints, and an upstream that records what it receives. */

import type OpenAI from "openai";
import { toFile } from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { type ImageUpstream, PIXEL, startImageUpstream } from "../support/upstreams/image-upstream.ts";

let upstream: ImageUpstream;
let service: Service;
let client: OpenAI;

beforeAll(async () => {
  upstream = await startImageUpstream();
  const deployment = (model: string) =>
    `{ engine: openai-compatible, base_url: "${upstream.baseUrl}", api_key: secret, model: ${model} }`;
  service = await startService({
    config: `
builtin_models: false
images: { max_pixels: 1048576, max_images: 4, max_input_images: 2 }
models:
  - id: painter
    task: image
    price: { image: "0.04" }
    deployments:
      - engine: scripted
        replies:
          - { match: slow, delay_ms_before_first: 600000 }
          - { match: fails, fail_after_tokens: 0 }
          - {}
  - id: counted
    task: image
    price: { image: "0.04" }
    deployments: [{ engine: scripted, echo: true }]
  - id: limited
    task: image
    deployments: [{ engine: scripted, echo: true }]
  - { id: gpt, task: image, price: { prompt: "0.000005", input_image: "0.00001", completion: "0.00004" }, deployments: [${deployment("gpt-image-1")}] }
  - { id: flux, task: image, deployments: [${deployment("flux")}] }
  - id: guarded
    task: image
    guardrails: [{ type: pii }, { type: words, words: [dragon] }, { type: moderation, model: judge, input: block }]
    deployments: [${deployment("flux")}]
  - { id: judge, task: moderation, deployments: [${deployment("judge")}] }
  - id: artist
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, vision: true }
        context_window: 100000
        replies:
          - { match_tool: "/was not made/", text: "I could not." }
          - { match_tool: "/is done/", text: "Here it is." }
          - { match: "blue", tool_calls: [{ name: image_generation, arguments: { prompt: a blue heron, edit: true } }] }
          - { match: "dragon", tool_calls: [{ name: image_generation, arguments: { prompt: a dragon } }] }
          - { tool_calls: [{ name: image_generation, arguments: { prompt: a red heron } }] }
  - { id: chatty, task: chat, deployments: [{ engine: scripted, echo: true }] }
`,
  });
  client = service.client({ maxRetries: 0 });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

const picture = (name = "in.png") => toFile(Buffer.from(PIXEL, "base64"), name, { type: "image/png" });

function sizeOf(base64: string | undefined): [number, number] {
  const bytes = Buffer.from(base64 ?? "", "base64");
  expect(bytes.toString("latin1", 1, 4)).toBe("PNG");
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

describe("with a model of its own process", () => {
  test("generates as many images of the size as asked", async () => {
    const { data, size, output_format } = await client.images.generate({
      ...{ model: "painter", prompt: "a heron at dawn", n: 2, size: "512x512" },
    });
    expect(data?.map((image) => sizeOf(image.b64_json))).toEqual([
      [512, 512],
      [512, 512],
    ]);
    expect(data?.[0]?.b64_json).not.toBe(data?.[1]?.b64_json);
    expect({ size, output_format }).toEqual({ size: "512x512", output_format: "png" });
  });

  test("gives an image as a data URL on request", async () => {
    const { data } = await client.images.generate({ model: "painter", prompt: "a heron", response_format: "url" });
    expect(data?.[0]?.b64_json).toBeUndefined();
    sizeOf(/^data:image\/png;base64,(.+)$/.exec(data?.[0]?.url ?? "")?.[1]);
  });

  test("streams unfinished images and then the finished one", async () => {
    const stream = await client.images.generate({
      ...{ model: "painter", prompt: "a heron", stream: true, partial_images: 2 },
    });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual([
      "image_generation.partial_image",
      "image_generation.partial_image",
      "image_generation.completed",
    ]);
    for (const event of events) expect(sizeOf(event.b64_json)).toEqual([256, 256]);
  });

  test("edits images within a mask, and varies one", async () => {
    const request = { model: "painter", prompt: "add a moon" };
    const edited = await client.images.edit({ ...request, image: await picture(), mask: await picture("mask.png") });
    const twice = await client.images.edit({ ...request, image: [await picture(), await picture("b.png")] });
    const varied = await client.images.createVariation({ model: "painter", image: await picture(), n: 2 });
    expect(edited.data?.[0]?.b64_json).not.toBe(twice.data?.[0]?.b64_json);
    expect(varied.data?.map((image) => sizeOf(image.b64_json))).toHaveLength(2);
    const stream = await client.images.edit({ ...request, image: await picture(), stream: true });
    expect((await Array.fromAsync(stream)).map(({ type }) => type)).toEqual(["image_edit.completed"]);
  });

  test("answers Open WebUI's image panel, which knows an address and a key only", async () => {
    // What its router of images sends for the engine openai with nothing else configured.
    const body = { model: "dall-e-2", prompt: "a heron", n: 1, size: "512x512", response_format: "b64_json" };
    const answer = await service.post("/v1/images/generations", body);
    const { data } = (await answer.json()) as OpenAI.ImagesResponse;
    expect(sizeOf(data?.[0]?.b64_json)).toEqual([512, 512]);
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...body, model: "gpt-image-1.5" })) form.append(name, String(value));
    form.append("image[]", new File([Buffer.from(PIXEL, "base64")], "0b.png", { type: "image/png" }));
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const edit = await fetch(`${service.baseUrl}/images/edits`, { method: "POST", headers, body: form });
    const edited = (await edit.json()) as OpenAI.ImagesResponse;
    expect(sizeOf(edited.data?.[0]?.b64_json)).toEqual([512, 512]);
  });

  test("lists its task, price and modalities", async () => {
    const answer = await service.fetch("/v1/models/painter?include_metadata=true");
    const { metadata } = (await answer.json()) as { metadata: Record<string, unknown> };
    expect(metadata).toMatchObject({ task: "image", pricing: { image: "0.04" }, modalities: { output: ["image"] } });
    expect(metadata.aliases).toEqual(["dall-e-*", "gpt-image-*", "chatgpt-image-*"]);
  });
});

describe("refuses", () => {
  test.each([
    [{ size: "2048x2048" }, "size", "`size` is 2048x2048, 4194304 pixels; an image may have at most 1048576."],
    [{ size: "wide" }, "size", "it must be auto or a width and a height"],
    [{ n: 5 }, "n", "`n` is 5; a request may have at most 4 images."],
    [{ partial_images: 1 }, "partial_images", "`partial_images` are sent in a stream only"],
    [{ stream: true, response_format: "url" }, "response_format", "Streamed images are Base64"],
    [{ background: "transparent" }, "background", "This model has no transparent backgrounds"],
    [{ output_format: "jpeg" }, "output_format", "This model paints PNG only"],
    [{ negative_prompt: "people" }, "negative_prompt", "say in the prompt"],
    [{ prompt: "" }, "prompt", ""],
    [{ model: "chatty" }, "model", "performs chat, not image"],
  ])("%j", async (fields, param, message) => {
    const answer = await service.post("/v1/images/generations", { model: "painter", prompt: "a heron", ...fields });
    expect(answer.status).toBe(400);
    const { error } = (await answer.json()) as { error: object };
    expect(error).toMatchObject({ param, message: expect.stringContaining(message) });
  });

  test("files that are no images, too many of them, and none", async () => {
    const request = { model: "painter", prompt: "add a moon" };
    const text = await toFile(Buffer.from("hello"), "in.png", { type: "image/png" });
    await expect(client.images.edit({ ...request, image: text })).rejects.toThrow("not a PNG, JPEG or WebP image");
    const three = [await picture(), await picture(), await picture()];
    await expect(client.images.edit({ ...request, image: three })).rejects.toThrow("At most 2 files");
    const mask = await picture();
    await expect(client.images.edit({ ...request, image: [], mask })).rejects.toThrow("'image'");
  });
});

describe("with an upstream", () => {
  const last = () => upstream.received.at(-1);

  test("forwards the fields and reports its facts, tokens and revised prompt", async () => {
    const { data, ...answer } = await client.images.generate({
      ...{ model: "gpt", prompt: "a heron", n: 2, size: "1024x1024", quality: "high", output_format: "webp" },
      ...{ background: "opaque", moderation: "low", output_compression: 80 },
    });
    expect(last()?.headers.authorization).toBe("Bearer secret");
    expect(last()?.fields).toEqual({
      ...{ model: "gpt-image-1", prompt: "a heron", n: 2, size: "1024x1024", quality: "high", output_format: "webp" },
      ...{ background: "opaque", moderation: "low", output_compression: 80 },
    });
    expect(data).toEqual([
      { b64_json: PIXEL, revised_prompt: "a heron, at dawn" },
      { b64_json: PIXEL, revised_prompt: "a heron, at dawn" },
    ]);
    expect(answer).toMatchObject({ quality: "high", usage: { input_tokens: 14, output_tokens: 1_056 } });
  });

  test("asks other models for content instead of addresses, and passes an address on", async () => {
    const { data } = await client.images.generate({ model: "flux", prompt: "an address" });
    expect(last()?.fields).toMatchObject({ model: "flux", response_format: "b64_json" });
    expect(data?.[0]?.url).toBe("https://images.example/1.png");
  });

  test("sends images and mask as a form", async () => {
    const image = [await picture("one.jpg"), await picture("two")];
    await client.images.edit({
      model: "gpt",
      prompt: "add a moon",
      image,
      mask: await picture(),
      input_fidelity: "high",
    });
    expect(last()?.path).toBe("/v1/images/edits");
    expect(last()?.fields).toMatchObject({
      ...{ model: "gpt-image-1", prompt: "add a moon", n: "1", input_fidelity: "high" },
      "image[]": [
        { name: "one.png", type: "image/png" },
        { name: "two.png", type: "image/png" },
      ],
      mask: { name: "in.png", bytes: Buffer.from(PIXEL, "base64").length },
    });
  });

  test("passes a stream on as it comes, and its usage", async () => {
    const stream = await client.images.generate({ model: "gpt", prompt: "a heron", stream: true, partial_images: 1 });
    const events = await Array.fromAsync(stream);
    expect(events.map(({ type }) => type)).toEqual(["image_generation.partial_image", "image_generation.completed"]);
    expect(events.at(-1)).toMatchObject({ b64_json: PIXEL, usage: { input_tokens: 14, output_tokens: 1_056 } });
  });

  test("reports refusals and broken streams", async () => {
    await expect(client.images.generate({ model: "gpt", prompt: "refuse" })).rejects.toMatchObject({
      ...{ status: 400, code: "moderation_blocked" },
    });
    const broken = client.images.generate({ model: "gpt", prompt: "break", stream: true, partial_images: 0 });
    await expect(broken).rejects.toMatchObject({ status: 502 });
  });
});

describe("with guardrails", () => {
  const draw = (prompt: string) => client.images.generate({ model: "guarded", prompt });
  const prompts = () =>
    upstream.received.filter(({ path }) => path.includes("images")).map(({ fields }) => fields.prompt);

  test("masks personal data in the prompt", async () => {
    await draw("a card for ada.lovelace@example.com");
    expect(prompts().at(-1)).toBe("a card for <EMAIL_ADDRESS_1>");
  });

  test.each([
    ["a red dragon", "words"],
    ["gore on a wall", "The prompt was blocked by the moderation policy: violence/graphic."],
  ])("blocks %j", async (prompt, message) => {
    await expect(draw(prompt)).rejects.toMatchObject({ status: 400, message: expect.stringContaining(message) });
    expect(prompts()).not.toContain(prompt);
  });

  test("refuses images that no guardrail can read", async () => {
    const edit = client.images.edit({ model: "guarded", prompt: "add a moon", image: await picture() });
    await expect(edit).rejects.toThrow("The guardrail `pii` cannot read images");
  });
});

describe("as a tool of responses", () => {
  type ImageCall = Extract<OpenAI.Responses.ResponseOutputItem, { type: "image_generation_call" }>;
  const ask = (input: OpenAI.Responses.ResponseInput | string, tool: object = {}, fields: object = {}) =>
    client.responses.create({
      ...{ model: "artist", input, tools: [{ type: "image_generation", model: "painter", ...tool }] },
      ...fields,
    }) as Promise<OpenAI.Responses.Response>;
  const imageOf = ({ output }: OpenAI.Responses.Response) => output[0] as ImageCall;

  test("generates an image, and the model answers", async () => {
    const response = await ask("Draw a heron.", { size: "64x32", output_format: "png" });
    const item = imageOf(response);
    expect(item).toMatchObject({
      type: "image_generation_call",
      status: "completed",
      action: "generate",
      size: "64x32",
    });
    expect(item).toMatchObject({ revised_prompt: "a red heron", output_format: "png" });
    expect(sizeOf(item.result ?? "")).toEqual([64, 32]);
    expect(response.output_text).toBe("Here it is.");
  });

  test("streams OpenAI's events, with unfinished images", async () => {
    const stream = await client.responses.create({
      ...{ model: "artist", input: "Draw a heron.", stream: true },
      tools: [{ type: "image_generation", model: "painter", partial_images: 2 }],
    });
    const events = await Array.fromAsync(stream);
    const name = "response.image_generation_call";
    expect(events.map(({ type }) => type).filter((type) => type.startsWith(name))).toEqual([
      ...[`${name}.in_progress`, `${name}.generating`, `${name}.partial_image`, `${name}.partial_image`],
      `${name}.completed`,
    ]);
    const [partial] = events.filter((event) => event.type === "response.image_generation_call.partial_image");
    expect(partial).toMatchObject({ partial_image_index: 0, output_index: 0, output_format: "png" });
    expect(sizeOf(partial?.partial_image_b64)).toEqual([256, 256]);
  });

  test("edits the image of an earlier response, and one that the user sends", async () => {
    const first = await ask("Draw a heron.", { model: undefined });
    const second = await ask("Now in blue.", {}, { previous_response_id: first.id });
    expect(imageOf(second)).toMatchObject({ action: "edit", status: "completed" });
    expect(imageOf(second).result).not.toBe(imageOf(first).result);
    const image_url = `data:image/png;base64,${PIXEL}`;
    const content = [
      { type: "input_text" as const, text: "Make it blue." },
      { type: "input_image" as const, image_url, detail: "auto" as const },
    ];
    const mask = { input_image_mask: { image_url } };
    await ask([{ role: "user", content }], { model: "gpt", action: "edit", ...mask, quality: "high" });
    const { path, fields } = upstream.received.at(-1) as ImageUpstream["received"][number];
    expect(path).toBe("/v1/images/edits");
    expect(fields).toMatchObject({ prompt: "a blue heron", quality: "high", image: { type: "image/png" } });
    expect(fields).toMatchObject({ mask: { bytes: Buffer.from(PIXEL, "base64").length } });
  });

  test("lets the model go on without an image that a policy blocks", async () => {
    const response = await ask("Draw a dragon.", { model: "guarded" });
    expect(imageOf(response)).toMatchObject({ status: "failed", result: null });
    expect(response.output_text).toBe("I could not.");
  });

  test.each([
    [{ size: "9999x9999" }, "an image may have at most 1048576"],
    [{ frames: 3 }, "frames"],
    [{ model: "none" }, "image_generation"],
  ])("refuses %j", async (tool, message) => {
    await expect(ask("Draw a heron.", tool)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
  });
});

describe("counts", () => {
  // biome-ignore lint/suspicious/noExplicitAny: answers of the administration API
  const admin = async (path: string, body?: object): Promise<any> => {
    const headers = { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" };
    const init = body && { method: "POST", body: JSON.stringify(body) };
    return (await fetch(new URL(`/v1/organization${path}`, service.baseUrl), { headers, ...init })).json();
  };
  const start = Math.floor(Date.now() / 1000) - 86_400;
  const results = async <Result>(path: string): Promise<Result[]> => {
    const { data } = await admin(path);
    return data.flatMap((bucket: { results: Result[] }) => bucket.results);
  };

  test("images and their cost", async () => {
    const sums = async () => {
      const [usage] = await results<{ images: number }>(`/usage/images?start_time=${start}&models=counted`);
      const [cost] = await results<{ amount: { value: number } }>(`/costs?start_time=${start}&line_items=counted`);
      return { images: usage?.images ?? 0, cents: Math.round((cost?.amount.value ?? 0) * 100) };
    };
    await client.images.generate({ model: "counted", prompt: "a heron", n: 3 });
    await expect.poll(sums).toEqual({ images: 3, cents: 12 });
  });

  test("images against the limit per minute", async () => {
    const [project] = (await admin("/projects")).data;
    const limit = await admin(`/projects/${project.id}/rate_limits/limited`, { max_images_per_1_minute: 3 });
    expect(limit.max_images_per_1_minute).toBe(3);
    await client.images.generate({ model: "limited", prompt: "a heron", n: 2 });
    const beyond = client.images.generate({ model: "limited", prompt: "a heron", n: 2 });
    await expect(beyond).rejects.toMatchObject({
      status: 429,
      message: expect.stringContaining("images per min (IPM)"),
    });
    const never = client.images.generate({ model: "limited", prompt: "a heron", n: 4 });
    await expect(never).rejects.toThrow("Request too large");
  });
});
