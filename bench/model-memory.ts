/**
 * Peak memory of a built-in model's process after one request of a usual size, and what the service itself has grown by:
 * `memoryBytes` of the manifest and the memory of `docs/reference/local-models.md`. Run with
 * `node bench/model-memory.ts [MODEL…]`, by default those that packages ship; Linux only.
 */

import { readFileSync } from "node:fs";
import { BUNDLED_MODELS } from "../src/model-store/manifest/bundled-models.ts";
import { MANIFEST } from "../src/model-store/manifest/manifest.ts";
import { testModelStore } from "../test/support/models/default-model.ts";
import { residentMegabytes } from "../test/support/service/resident-megabytes.ts";
import { type ServiceProcess, startServiceProcess } from "../test/support/service/service-process.ts";

const TEXT = "The kettle sings on the stove, and nobody in the house is awake yet to hear it. ".repeat(3);
const DOWNLOAD_MS = 30 * 60_000;
const RECORDER = "flite";
const packaged = MANIFEST.filter(
  ({ isComponent, files }) =>
    isComponent !== true && files.every(({ sources }) => sources.some(({ source }) => source !== "hugging-face")),
);
const MODELS = [...packaged, ...BUNDLED_MODELS];

const selection = process.argv.slice(2);
for (const { id, task } of MODELS) if (selection.length === 0 || selection.includes(id)) await measure(id, task);

async function measure(id: string, task: string): Promise<void> {
  if (packaged.some((entry) => entry.id === id)) {
    await testModelStore().pull({ model: id }, { signal: AbortSignal.timeout(DOWNLOAD_MS) });
  }
  const service = await startServiceProcess({ config: "local: { load: on_demand, unload_after_seconds: 0 }\n" });
  try {
    const recording = task === "transcription" ? await speak(service, RECORDER) : undefined;
    const pid = service.process.pid as number;
    const others = new Set(childrenOf(pid));
    const before = residentMegabytes(pid);
    await ask(service, id, task, recording);
    const peaks = childrenOf(pid).flatMap((child) => (others.has(child) ? [] : [peakMegabytes(child).toFixed(0)]));
    console.log(`${id}: ${peaks.join(" + ")} MB, the service ${(residentMegabytes(pid) - before).toFixed(0)} MB more`);
  } finally {
    await service.stop();
  }
}

async function ask(service: ServiceProcess, model: string, task: string, recording: Blob | undefined): Promise<void> {
  const client = service.client({ maxRetries: 0 });
  if (task === "chat") {
    const messages = [{ role: "user" as const, content: TEXT }];
    await client.chat.completions.create({ model, messages, max_completion_tokens: 64 });
  } else if (task === "embedding") await client.embeddings.create({ model, input: TEXT });
  else if (task === "moderation") await client.moderations.create({ model, input: TEXT });
  else if (task === "speech") await speak(service, model);
  else await client.audio.transcriptions.create({ model, file: new File([recording as Blob], "speech.wav") });
}

async function speak(service: ServiceProcess, model: string): Promise<Blob> {
  const response = await service.post("/v1/audio/speech", {
    model,
    voice: "alloy",
    input: TEXT,
    response_format: "wav",
  });
  if (!response.ok) throw new Error(await response.text());
  return await response.blob();
}

function childrenOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return children.split(" ").filter(Boolean).map(Number);
}

function peakMegabytes(pid: number): number {
  const [, kilobytes] = /VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return (Number(kilobytes) * 1024) / 1e6;
}
