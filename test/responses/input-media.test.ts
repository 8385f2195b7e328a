/** Documents and recordings in requests to models that read texts: with the official clients, in each format. */

import Anthropic from "@anthropic-ai/sdk";
import OpenAI, { toFile } from "openai";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { docx, pdf } from "../support/vector-stores/sample-documents.ts";

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  service = await startService({
    config: `
builtin_models: false
models:
  - { id: reader, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - id: listener
    task: transcription
    deployments: [{ engine: scripted, replies: [{ text: "Bring the otters home." }] }]
`,
  });
  client = service.client();
});
afterAll(() => service?.stop());

const TIDES = pdf("Tides follow the moon.").toString("base64");
const PDF = `data:application/pdf;base64,${TIDES}`;

/** A second of silence. */
function silence(): string {
  const wav = Buffer.alloc(44 + 32_000);
  wav.write("RIFF");
  wav.writeUInt32LE(36 + 32_000, 4);
  wav.write("WAVEfmt ", 8);
  for (const [at, value] of [
    [16, 16],
    [24, 16_000],
    [28, 32_000],
  ] as const)
    wav.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    wav.writeUInt16LE(value, at);
  wav.write("data", 36);
  wav.writeUInt32LE(32_000, 40);
  return wav.toString("base64");
}

async function respond(part: unknown): Promise<string> {
  const content = [part as OpenAI.Responses.ResponseInputContent];
  const { output_text } = await client.responses.create({ model: "reader", input: [{ role: "user", content }] });
  return output_text;
}

async function complete(part: unknown): Promise<string | null | undefined> {
  const content = [part as OpenAI.ChatCompletionContentPart];
  const { choices } = await client.chat.completions.create({ model: "reader", messages: [{ role: "user", content }] });
  return choices[0]?.message.content;
}

test("reads a PDF in responses, chat completions and messages", async () => {
  const text = "tides.pdf:\nTides follow the moon.";
  expect(await respond({ type: "input_file", filename: "tides.pdf", file_data: PDF })).toBe(text);
  expect(await complete({ type: "file", file: { filename: "tides.pdf", file_data: PDF } })).toBe(text);
  const anthropic = new Anthropic({ baseURL: service.baseUrl.replace("/v1", ""), apiKey: service.apiKey });
  const source = { type: "base64" as const, media_type: "application/pdf" as const, data: TIDES };
  const message = await anthropic.messages.create({
    ...{ model: "reader", max_tokens: 100 },
    messages: [{ role: "user", content: [{ type: "document", title: "tides.pdf", source }] }],
  });
  expect(message.content).toMatchObject([{ type: "text", text }]);
});

test("reads an uploaded document, also when a later response continues, and counts its tokens", async () => {
  const file = await client.files.create({ file: await toFile(docx("Spring tides."), "a.docx"), purpose: "user_data" });
  const content = [{ type: "input_file" as const, file_id: file.id }];
  const input = [{ role: "user" as const, content }];
  const { input_tokens } = await client.responses.inputTokens.count({ model: "reader", input });
  const first = await client.responses.create({ model: "reader", input });
  expect(first.output_text).toBe("a.docx:\nSpring tides.");
  expect(first.usage?.input_tokens).toBe(input_tokens);
  const next = await client.responses.create({ model: "reader", previous_response_id: first.id, input: "And?" });
  expect(next.usage?.input_tokens).toBeGreaterThan(input_tokens);
  const stored = await client.responses.inputItems.list(first.id);
  expect(stored.data).toMatchObject([{ content: [{ type: "input_file", file_id: file.id }] }]);
});

test("writes down recordings in responses and chat completions, which count as transcriptions", async () => {
  const part = { type: "input_audio", input_audio: { data: silence(), format: "wav" } };
  const transcript = "Transcript of a recording:\nBring the otters home.";
  expect(await respond(part)).toBe(transcript);
  expect(await complete(part)).toBe(transcript);
  const baseURL = service.baseUrl;
  const admin = new OpenAI({ baseURL, apiKey: null, adminAPIKey: service.adminKey }).admin.organization;
  const start_time = Math.floor(Date.now() / 1000) - 3_600;
  await eventually(async () => {
    const { data } = await admin.usage.audioTranscriptions({ start_time, bucket_width: "1d" });
    // The second request reads the transcript of the first.
    expect(data.flatMap(({ results }) => results)).toMatchObject([{ num_model_requests: 1, seconds: 1 }]);
  });
});

test.each([
  [
    "a damaged PDF",
    { filename: "a.pdf", file_data: `data:application/pdf;base64,${Buffer.from("%PDF-1.4 no").toString("base64")}` },
    /damaged/,
  ],
  [
    "an image",
    {
      filename: "a.png",
      file_data: `data:image/png;base64,${Buffer.from("\x89PNG\r\n", "latin1").toString("base64")}`,
    },
    /PNG image/,
  ],
])("names what is wrong with %s", async (_name, file, message) => {
  const failure = { status: 400, param: "input[0].content[0].type", message: expect.stringMatching(message) };
  await expect(respond({ type: "input_file", ...file })).rejects.toMatchObject(failure);
});

test("refuses what is no recording", async () => {
  const part = {
    type: "input_audio",
    input_audio: { data: Buffer.from("no sound").toString("base64"), format: "wav" },
  };
  await expect(complete(part)).rejects.toMatchObject({ status: 400, param: "messages[0].content[0].type" });
});

test("bounds the texts of all documents of a request together", async () => {
  const text = Buffer.from("tide ".repeat(900_000)).toString("base64");
  const part = {
    type: "input_file" as const,
    filename: "tides.txt",
    file_data: `data:application/octet-stream;base64,${text}`,
  };
  // The second text is that of the first, from memory.
  const content = [part, part];
  const answering = client.responses.create({ model: "reader", input: [{ role: "user", content }] });
  await expect(answering).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining("8000000 characters"),
  });
});

test("reads nothing to count the tokens of a request beyond a limit", async () => {
  const limited = await startService({
    config: `
builtin_models: false
limits: { key: { requests_per_minute: 1 } }
models: [{ id: reader, task: chat, deployments: [{ engine: scripted, echo: true }] }]
`,
  });
  onTestFinished(() => limited.stop());
  const input = [{ role: "user", content: [{ type: "input_file", file_id: "file-nobody" }] }];
  const count = async () => (await limited.post("/v1/responses/input_tokens", { model: "reader", input })).status;
  expect(await count()).toBe(400);
  expect(await count()).toBe(429);
});
