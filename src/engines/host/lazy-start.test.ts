import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import type { HostedSettings } from "../../../test/support/models/hosted-child.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import type { Model } from "../../contracts/engine.ts";
import type { SpeechModel } from "../../contracts/speech-model.ts";
import { type Hosted, hostModel } from "./host-model.ts";

const FACTS = {
  task: "speech",
  device: "cpu",
  slots: 2,
  voices: ["hum"],
  voiceAliases: {},
  languages: ["en"],
  sampleRate: 8000,
  wordTimes: false,
} as const;
const REQUEST = { model: "m", text: "abc", voice: "hum", speed: 1, instructions: undefined };
const never = () => new AbortController().signal;

const opened: Model[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((model) => model.close()));
});

async function openLazily(settings: Omit<HostedSettings, "task"> = {}): Promise<Hosted<SpeechModel>> {
  const model = await hostModel({
    name: "lazy",
    module: new URL("../../../test/support/models/hosted-child.ts", import.meta.url),
    settings: { ...settings, task: "speech" },
    lazyFacts: FACTS,
    logger: makeEngineServices().logger,
    signal: never(),
  });
  opened.push(model);
  return model as Hosted<SpeechModel>;
}

test("describes the model without a process, which the first calls start once", async () => {
  const model = await openLazily({ openMs: 200 });
  expect(model).toMatchObject(FACTS);
  expect(model.health()).toEqual({ state: "up" });
  expect(model.pid).toBeUndefined();
  const spoken = await Promise.all([1, 2, 3].map(() => Array.fromAsync(model.speak(REQUEST, never()))));
  expect(spoken).toEqual(new Array(3).fill([expect.objectContaining({ length: 3 })]));
  const { pid } = model;
  expect(pid).toBeGreaterThan(0);
  await Array.fromAsync(model.speak(REQUEST, never()));
  expect(model.pid).toBe(pid);
});

test("ends an aborted call without waiting for the process to start", async () => {
  const model = await openLazily({ openMs: 60_000 });
  const abort = new AbortController();
  const speaking = Array.fromAsync(model.speak(REQUEST, abort.signal));
  await eventually(() => expect(model.pid).toBeGreaterThan(0));
  abort.abort();
  expect(await speaking).toEqual([]);
});

test("reports restarting after a failed first start, and serves once a start succeeds", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-lazy-"));
  const failWhenExists = join(directory, "gone");
  await writeFile(failWhenExists, "");
  const model = await openLazily({ failWhenExists });
  await expect(Array.fromAsync(model.speak(REQUEST, never()))).rejects.toMatchObject({ code: "engine_failed" });
  expect(model.health()).toMatchObject({ state: "restarting", reason: "The weights are gone." });
  await rm(directory, { recursive: true });
  await eventually(async () => expect(await Array.fromAsync(model.speak(REQUEST, never()))).toHaveLength(1));
});

test("closes without ever having started", async () => {
  const model = await openLazily();
  await model.close();
  await expect(Array.fromAsync(model.speak(REQUEST, never()))).rejects.toMatchObject({ kind: "unavailable" });
  expect(model.pid).toBeUndefined();
});
