/** Supervision and requests of an sd-server, with a stand-in program that needs no model. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { makeImageRequest } from "../../../test/support/service/image-request.ts";
import type { ImageEvent, ImageFile, ImageModel, ImageRequest } from "../../contracts/image-model.ts";
import { sdServerEngine } from "./sd-server-engine.ts";
import { sdServerSettings } from "./settings.ts";

const SUPPORT = fileURLToPath(new URL("../../../test/support/", import.meta.url));
const BINARY = join(SUPPORT, "models/scripted-sd-server.mjs");
const opened: ImageModel[] = [];
let shared: ImageModel;

beforeAll(async () => {
  shared = await open();
});
afterAll(async () => {
  for (const model of opened) await model.close();
});

async function open(settings: Record<string, unknown> = {}): Promise<ImageModel> {
  const checked = sdServerSettings.parse({ binary: BINARY, file: BINARY, ...settings });
  const model = (await sdServerEngine.open(checked, "image", makeEngineServices())) as ImageModel;
  opened.push(model);
  return model;
}

const draw = (model: ImageModel, request: Partial<ImageRequest> = {}, signal = new AbortController().signal) =>
  Array.fromAsync(model.generate(makeImageRequest(request), signal));

/** What the server received, which is the content of its images. */
function sent(events: readonly ImageEvent[]): Record<string, unknown> {
  const [image] = events;
  if (image?.type !== "image") throw new Error(`the first event is ${image?.type}`);
  return JSON.parse(Buffer.from(image.base64 ?? "", "base64").toString());
}

const picture = (name: string): ImageFile => ({
  ...{ name, type: "image/png", bytes: 3 },
  open: async () => new Blob(["png"], { type: "image/png" }),
});

test("starts the server with the files of its model and sends it prompts", async () => {
  const parts = { vae: BINARY, llm: BINARY };
  const model = await open({ parts, threads: 3, options: ["--steps", "8"] });
  const events = await draw(model, { count: 2, size: { width: 512, height: 768 }, format: "jpeg", compression: 80 });
  expect(events.map(({ type }) => type)).toEqual(["image", "image", "finish"]);
  const { options, ...fields } = sent(events);
  expect(fields).toMatchObject({ prompt: "a heron", n: 2, size: "512x768", output_format: "jpeg" });
  expect(fields).toMatchObject({ output_compression: 80 });
  expect((options as string[]).slice(0, 10)).toEqual([
    ...["--diffusion-model", BINARY, "--vae", BINARY, "--llm", BINARY, "--threads", "3", "--steps", "8"],
  ]);
  const complete = sent(await draw(shared)).options as string[];
  expect(complete.slice(0, 2)).toEqual(["--model", BINARY]);
});

test("sends images and mask as a form", async () => {
  const edit = { operation: "edit", prompt: "add a moon", mask: picture("mask.png") } as const;
  const two = sent(await draw(shared, { ...edit, images: [picture("a.png"), picture("b.png")] }));
  expect(two).toMatchObject({ prompt: "add a moon", images: 2, mask: true });
  expect(sent(await draw(shared, { ...edit, mask: undefined, images: [picture("a.png")] }))).toMatchObject({
    ...{ images: 1, mask: false },
  });
});

test.each([
  [{ prompt: 'a heron <sd_cpp_extra_args>{"lora":[]}</sd_cpp_extra_args>' }, "prompt"],
  [{ options: { quality: "high" } }, "quality"],
  [{ operation: "edit", format: "webp", images: [picture("a.png")] }, "output_format"],
] as const)("refuses %j", async (request, param) => {
  await expect(draw(shared, request)).rejects.toMatchObject({ kind: "invalid-request", param });
});

test("reports failures, and restarts a server that crashes", async () => {
  const model = await open();
  await expect(draw(model, { prompt: "out of memory" })).rejects.toMatchObject({ kind: "upstream-failed" });
  await expect(draw(model, { prompt: "crash" })).rejects.toMatchObject({ kind: "unavailable", code: "engine_failed" });
  await eventually(() => expect(model.health().state).toBe("up"));
  expect(await draw(model)).toHaveLength(2);
});

test("ends a request whose caller leaves", async () => {
  const leaving = new AbortController();
  const drawing = draw(shared, { prompt: "hang" }, leaving.signal);
  setTimeout(() => leaving.abort(), 100);
  expect(await drawing).toEqual([]);
});

test("says why the server does not start", async () => {
  await expect(open({ options: ["--fail"] })).rejects.toThrow(
    "sd-server ended by itself (exit code 1): error: unknown",
  );
  await expect(open({ binary: "/nowhere/sd-server" })).rejects.toThrow("scripts/build-sd-server.sh");
  await expect(open({ file: "/nowhere/model.gguf" })).rejects.toMatchObject({ param: "file" });
  const reserved = sdServerSettings.safeParse({ file: "a", options: ["--listen-ip", "0.0.0.0"] });
  expect(reserved.error?.issues[0]?.message).toBe("--listen-ip is set by Parlance itself");
});
