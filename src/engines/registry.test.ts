import { expect, test, vi } from "vitest";
import { makeEngineServices } from "../../test/support/models/engine-services.ts";
import type { ModerationModel } from "../contracts/moderation-model.ts";
import { ENGINES, filesOf, isLocal, openModel } from "./registry.ts";
import { ScriptedChat } from "./scripted/scripted-chat.ts";

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

test("opens a cascade, whose nested deployments name their settings in errors", async () => {
  const guard = { engine: "guard", family: "llama-guard-3" };
  const cascade = (given: object) => ENGINES.cascade.settings.parse({ classifier: guard, ...given });
  const open = (settings: object) => openModel("cascade", settings, "moderation", makeEngineServices());
  const safe = { engine: "scripted", replies: [{ text: "safe" }] };
  await expect(open(cascade({ classifier: { ...guard, chat: safe }, guard: safe }))).rejects.toThrow(
    '`guard.engine` is "scripted", which is not a moderation engine.',
  );
  await expect(
    open(cascade({ classifier: { ...guard, chat: safe }, guard: { ...guard, chat: { engine: "flite" } } })),
  ).rejects.toThrow('`guard.chat.engine` is "flite", which is not a chat engine.');
  const upstream = { engine: "openai-compatible", ...UPSTREAM };
  const local = { engine: "llama-cpp", model: "qwen2.5-coder-1.5b-instruct" };
  const mixed = cascade({ classifier: { engine: "classifier" }, guard: { ...guard, chat: upstream } });
  expect(filesOf("cascade", mixed)).toEqual(FILES);
  expect(isLocal("cascade", mixed)).toBe(true);
  expect(isLocal("cascade", cascade({ classifier: upstream, guard: { ...guard, chat: local } }))).toBe(true);
  expect(isLocal("cascade", cascade({ classifier: upstream, guard: { ...guard, chat: upstream } }))).toBe(false);
});

test("closes the nested models that are open when a later one cannot be opened", async () => {
  const crashing = {
    engine: "guard",
    family: "llama-guard-3",
    chat: { engine: "scripted", replies: [{ text: "safe" }] },
  };
  const settings = ENGINES.cascade.settings.parse({ classifier: crashing, guard: { engine: "classifier" } });
  const closed = vi.spyOn(ScriptedChat.prototype, "close");
  await expect(openModel("cascade", settings, "moderation", makeEngineServices())).rejects.toThrow("no model store");
  expect(closed).toHaveBeenCalledOnce();
  closed.mockRestore();
});
