import { expect, test } from "vitest";
import { makeEngineServices } from "../../test/support/engine-services.ts";
import type { ModerationModel } from "./engine.ts";
import { ENGINES, filesOf, openModel } from "./registry.ts";

const UPSTREAM = {
  base_url: "https://upstream.example/v1",
  tls: { ca_file: "/ca.pem", certificate_file: "/own.pem", key_file: "/key.pem" },
};
const FILES = ["/ca.pem", "/own.pem", "/key.pem"];
const filesFor = (kind: keyof typeof ENGINES, settings: object) =>
  filesOf(kind, ENGINES[kind].settings.parse(settings));

test("lists the TLS files of a deployment and of its guard's chat engine", () => {
  expect(filesFor("openai-compatible", UPSTREAM)).toEqual(FILES);
  const guard = (chat: object) => filesFor("guard", { family: "llama-guard-3", chat });
  expect(guard({ engine: "openai-compatible", ...UPSTREAM })).toEqual(FILES);
  expect(guard({ engine: "openai-compatible", base_url: "nowhere" })).toEqual([]);
  expect(guard({ engine: "scripted", replies: [] })).toEqual([]);
  expect(guard({ engine: "nothing" })).toEqual([]);
});

test("opens a guard with the chat model that its settings name", async () => {
  const guard = (chat: object) =>
    openModel(
      "guard",
      ENGINES.guard.settings.parse({ family: "llama-guard-3", chat }),
      "moderation",
      makeEngineServices(),
    );
  await expect(guard({ engine: "guard" })).rejects.toThrow('`chat.engine` is "guard", which is not a chat engine.');
  await expect(guard({ engine: "scripted", slots: 0, echo: true })).rejects.toThrow("`chat.slots`");
  const model = await guard({ engine: "scripted", replies: [{ text: "safe" }] });
  const [verdict] = await (model as ModerationModel).moderate([{ text: "hi", images: [] }], AbortSignal.timeout(5000));
  expect(verdict?.scores.hate).toBe(0);
});
