import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { forward, makeChatCall } from "../../../test/support/service/chat-request.ts";
import { makeImageRequest } from "../../../test/support/service/image-request.ts";
import { type TemporaryDirectory, temporaryDirectory } from "../../../test/support/service/temporary-directory.ts";
import { makeTranscriptionRequest, uploadedFile } from "../../../test/support/service/transcription-request.ts";
import type { ChatProxy } from "../../contracts/chat-proxy.ts";
import type { Model } from "../../contracts/engine.ts";
import { openAiCompatibleEngine } from "./openai-compatible-engine.ts";
import { openAiCompatibleSettings } from "./settings.ts";

let folder: TemporaryDirectory;
let server: Server;
let baseUrl: string;

beforeAll(async () => {
  folder = await temporaryDirectory();
  await writeFile(join(folder.path, "file"), "sound");
  server = createServer((_request, response) => {
    response.writeHead(429, { "retry-after": "7.5", "content-length": "900" }).write('{"err');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await folder[Symbol.asyncDispose]();
});

const { signal } = new AbortController();

function ask(model: Model): AsyncIterable<unknown> | Promise<unknown> {
  switch (model.task) {
    case "chat":
      return forward(model as ChatProxy, makeChatCall(), signal);
    case "embedding":
      return model.embed(
        {
          model: "m",
          inputs: ["a"],
          dimensions: undefined,
          usesOpenAiName: false,
          tokenIds: undefined,
          project: "",
          encoding: "float",
          user: undefined,
        },
        signal,
      );
    case "moderation":
      return model.moderate([{ text: "a", images: [] }], signal);
    case "speech":
      return model.speak({ model: "m", text: "a", voice: "b", speed: 1, instructions: undefined }, signal);
    case "transcription": {
      const file = uploadedFile(join(folder.path, "file"), "a.wav");
      return model.transcribe(makeTranscriptionRequest({ file }), signal);
    }
    case "image":
      return model.generate(makeImageRequest(), signal);
  }
}

test.concurrent.each(["chat", "embedding", "moderation", "speech", "transcription", "image"] as const)(
  "reports a refusal whose body hangs by its status and Retry-After: %s",
  async (task) => {
    const settings = openAiCompatibleSettings.parse({ base_url: baseUrl });
    const model = await openAiCompatibleEngine.open(settings, task, makeEngineServices());
    const answer = ask(model);
    const reading = Symbol.asyncIterator in answer ? Array.fromAsync(answer) : answer;
    await expect(reading).rejects.toMatchObject({ kind: "request-rate-limited", retryAfterSeconds: 8 });
    await model.close();
  },
);
