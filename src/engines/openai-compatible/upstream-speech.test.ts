import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import type { SpeechModel } from "../../contracts/speech-model.ts";
import { openAiCompatibleEngine } from "./openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "./settings.ts";

let server: Server;
let model: SpeechModel;
/** Response to the next request. */
let answer: { contentType: string; bytes: Buffer };

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": answer.contentType }).end(answer.bytes);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const settings = openAiCompatibleSettings.parse({ base_url });
  model = (await openAiCompatibleEngine.open(settings, "speech", makeEngineServices())) as SpeechModel;
});
afterAll(async () => {
  await model.close();
  server.closeAllConnections();
  server.close();
});

function speak() {
  const request = { model: "ours", text: "Hi.", voice: "alloy", speed: 1, instructions: undefined };
  return Array.fromAsync(model.speak(request, new AbortController().signal));
}

const silence = Buffer.alloc(400);

test.each([
  ["MP3", "audio/mpeg", Buffer.from([0xff, 0xfb, 0x90, 0xc4])],
  ["MP3", "application/octet-stream", Buffer.from("ID3\u0003", "latin1")],
  ["AAC", "audio/aac", Buffer.from([0xff, 0xf1, 0x50, 0x80])],
  ["Ogg", "audio/ogg", Buffer.from("OggS")],
  ["FLAC", "", Buffer.from("fLaC")],
  ["WAV", "audio/wav", Buffer.from("RIFF")],
])("rejects %s (%s) as samples", async (kind, contentType, start) => {
  answer = { contentType, bytes: Buffer.concat([start, silence]) };
  await expect(speak()).rejects.toMatchObject({ kind: "upstream-failed", message: expect.stringContaining(kind) });
});

test.each(["audio/pcm", "audio/mpeg", ""])("accepts samples with the type '%s'", async (contentType) => {
  answer = { contentType, bytes: silence };
  const samples = (await speak()).flatMap((event) => (event instanceof Float32Array ? [...event] : []));
  expect(samples).toEqual(new Array(200).fill(0));
});
