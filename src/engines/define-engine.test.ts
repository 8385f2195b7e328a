import { afterEach, expect, test } from "vitest";
import { z } from "zod";
import { makeEngineServices } from "../../test/support/models/engine-services.ts";
import type { Model } from "../contracts/engine.ts";
import { defineEngine } from "./define-engine.ts";
import type { Hosted } from "./host/host-model.ts";

const hosted = defineEngine({
  name: "hosted",
  tasks: ["chat", "speech"],
  settings: z.strictObject({ warning: z.string().describe("Warning that the model logs when it opens") }),
  module: new URL("../../test/support/models/hosted-child.ts", import.meta.url),
  prepare: async (settings, task) => ({ ...settings, task }),
  environment: { GREETING: "hello" },
});

const opened: Model[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((model) => model.close()));
});

test("opens a model in a child process with what `prepare` returns", async () => {
  const services = makeEngineServices();
  const model = await hosted.open(hosted.settings.parse({ warning: "careful" }), "speech", services);
  opened.push(model);
  expect(model).toMatchObject({ task: "speech", voices: ["hum"] });
  expect((model as Hosted<Model>).pid).not.toBe(process.pid);
  expect(services.logged.join()).toContain("careful");
});

test("rejects a task that the engine does not support", async () => {
  const opening = hosted.open({ warning: "" }, "transcription", makeEngineServices());
  await expect(opening).rejects.toMatchObject({
    name: "Fault",
    message: "The engine hosted does not support transcription, only chat and speech.",
  });
});
