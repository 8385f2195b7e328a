/** Scans and images with the real model, which is downloaded: in chats with a model that reads texts, and in stores. */

import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import type OpenAI from "openai";
import { toFile } from "openai";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { scannedPdf } from "../support/vector-stores/sample-documents.ts";
import { startWordEmbedder } from "../support/vector-stores/word-embedder.ts";

const ROOT = join(import.meta.dirname, "../..");
const config = (embedder: string) => `
builtin_models: false
server: { max_text_recognition_cpu_seconds: 60 }
models:
  - { id: reader, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: seeing, task: chat, deployments: [{ engine: scripted, echo: true, abilities: { vision: true } }] }
  - { id: vectors, task: embedding, deployments: [{ engine: openai-compatible, base_url: "${embedder}", model: words }] }
vector_stores: { embedding_model: vectors }
`;
const LINES = ["Invoice no. 20817", "The otters owe us 1,284.60 euros.", "Please pay before Friday."];
const [WIDTH, HEIGHT] = [900, 1200];

let models: string;
let service: ServiceProcess;
let embedder: Awaited<ReturnType<typeof startWordEmbedder>>;
let client: OpenAI;
let png: Buffer;
let jpeg: Buffer;
beforeAll(async () => {
  const lines = LINES.map((text, index) => `<text x="90" y="${150 + 60 * index}">${text}</text>`).join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" font-size="34" font-family="serif"><rect width="100%" height="100%" fill="#fff"/>${lines}</svg>`;
  png = await sharp(Buffer.from(svg)).png().toBuffer();
  jpeg = await sharp(png).jpeg().toBuffer();
  models = await mkdtemp(join(tmpdir(), "parlance-models-"));
  const environment = { PARLANCE_MODELS_DIR: models };
  const command = [join(ROOT, "src/cli/parlance.ts"), "models", "pull", "pp-ocrv6-small"];
  await promisify(execFile)(process.execPath, command, { env: { ...process.env, ...environment } });
  embedder = await startWordEmbedder();
  service = await startServiceProcess({ config: config(embedder.url), environment });
  client = service.client();
}, 400_000);
afterAll(async () => {
  await service?.stop();
  await embedder?.[Symbol.asyncDispose]();
  await rm(models, { recursive: true, force: true });
});

const url = () => `data:image/png;base64,${png.toString("base64")}`;
const all = () => new RegExp(LINES.map((line) => line.replaceAll(".", "\\.")).join("\\s+"));

test("reads an image for a model without vision, in each format", async () => {
  const { choices } = await client.chat.completions.create({
    model: "reader",
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: url() } }] }],
  });
  expect(choices[0]?.message.content).toMatch(all());
  const { output_text } = await client.responses.create({
    model: "reader",
    input: [{ role: "user", content: [{ type: "input_image", image_url: url(), detail: "auto" }] }],
  });
  expect(output_text).toMatch(all());
  const anthropic = new Anthropic({ baseURL: service.origin, apiKey: service.apiKey });
  const source = { type: "base64", media_type: "image/png", data: png.toString("base64") } as const;
  const { content } = await anthropic.messages.create({
    model: "reader",
    max_tokens: 1000,
    messages: [{ role: "user", content: [{ type: "image", source }] }],
  });
  expect(content[0]).toMatchObject({ type: "text", text: expect.stringMatching(all()) });
});

test("leaves an image as it is for a model with vision", async () => {
  const { choices } = await client.chat.completions.create({
    model: "seeing",
    messages: [
      {
        role: "user",
        content: [
          { type: "text", text: "?" },
          { type: "image_url", image_url: { url: url() } },
        ],
      },
    ],
  });
  expect(choices[0]?.message.content).not.toContain("Invoice");
});

test("refuses an image without text, and one that is damaged", async () => {
  const white = await sharp({ create: { width: 200, height: 200, channels: 3, background: "#fff" } })
    .png()
    .toBuffer();
  for (const [image, message] of [
    [white, /The image cannot be read as text.*contains no text/s],
    [png.subarray(0, 600), /The image cannot be read as text.*damaged/s],
  ] as const) {
    const asked = client.chat.completions.create({
      model: "reader",
      messages: [
        {
          role: "user",
          content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${image.toString("base64")}` } }],
        },
      ],
    });
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  }
});

test("reads a scanned PDF with a page on its side", async () => {
  const side = await sharp(jpeg).rotate(270).toBuffer();
  const file = scannedPdf(
    { image: { jpeg }, width: WIDTH, height: HEIGHT, stamp: "Page 1" },
    { image: { jpeg: side }, width: HEIGHT, height: WIDTH, rotate: 90 },
  );
  const { output_text } = await client.responses.create({
    model: "reader",
    input: [
      {
        role: "user",
        content: [
          {
            type: "input_file",
            filename: "scan.pdf",
            file_data: `data:application/pdf;base64,${file.toString("base64")}`,
          },
        ],
      },
    ],
  });
  expect(output_text).toMatch(new RegExp(`Page 1\\s+${all().source}\\s+${all().source}`));
});

test("adds scans and images to a store", async () => {
  const store = await client.vectorStores.create({});
  const files = [
    await toFile(scannedPdf({ image: { jpeg }, width: WIDTH, height: HEIGHT }), "scan.pdf"),
    await toFile(png, "photo.png", { type: "image/png" }),
  ];
  const { file_counts } = await client.vectorStores.fileBatches.uploadAndPoll(store.id, { files });
  expect(file_counts).toMatchObject({ completed: 2, failed: 0 });
  const { data } = await client.vectorStores.search(store.id, { query: "otters" });
  expect(data.map(({ filename }) => filename).sort()).toEqual(["photo.png", "scan.pdf"]);
  expect(data[0]?.content[0]?.text).toMatch(all());
});
