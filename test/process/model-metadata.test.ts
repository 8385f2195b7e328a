/** Metadata of models that have not been loaded. */

import { expect, onTestFinished, test } from "vitest";
import { defaultChatModelPath } from "../support/models/default-model.ts";
import { shallowModelPath } from "../support/models/shallow-model.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

interface Entry {
  id: string;
  metadata: Record<string, unknown>;
}

async function metadataOf(service: ServiceProcess, id: string): Promise<Record<string, unknown>> {
  const response = await service.fetch("/v1/models?include_metadata=true");
  const { data } = (await response.json()) as { data: Entry[] };
  return data.find((entry) => entry.id === id)?.metadata ?? {};
}

test("states voices, languages, windows, thresholds and abilities before the first load", async () => {
  const file = await defaultChatModelPath();
  const config = `
local: { load: on_demand }
models:
  - { id: file, task: chat, deployments: [{ engine: llama-cpp, file: "${file}", context_size: 512, max_choices: 3 }] }
  - id: guard
    task: moderation
    deployments: [{ engine: guard, family: llama-guard-4, thresholds: { violence: 0.9 }, chat: { engine: scripted, replies: [{ text: safe }] } }]
`;
  const service = await startServiceProcess({ config });
  onTestFinished(async () => {
    await service.stop();
  });
  const EXPECTED = {
    hibari: { voices: expect.arrayContaining(["heart"]), languages: ["en"] },
    flite: { voices: expect.arrayContaining(["slt"]), languages: ["en"] },
    "moonshine-base-en": { languages: ["en"] },
    "moderation-omni": {
      languages: expect.arrayContaining(["en", "de", "zh"]),
      categories: expect.arrayContaining(["hate", "sexual/minors"]),
      thresholds: expect.objectContaining({ hate: expect.any(Number) }),
      capabilities: { images: true },
    },
    "all-minilm-l6-v2": { dimensions: 384, context_window: 256 },
    "smollm2-135m-instruct": {
      context_window: expect.any(Number),
      max_output_tokens: expect.any(Number),
      capabilities: expect.objectContaining({ tools: true, json_schema: true, vision: false, max_choices: 8 }),
    },
    file: { context_window: 512, capabilities: expect.objectContaining({ max_choices: 3 }) },
    guard: { thresholds: expect.objectContaining({ violence: 0.9, hate: 0.5 }) },
  };
  for (const [id, metadata] of Object.entries(EXPECTED)) {
    await eventually(async () => expect({ id, ...(await metadataOf(service, id)) }).toMatchObject(metadata));
  }
  for (const id of ["hibari", "moonshine-base-en", "moderation-omni", "smollm2-135m-instruct", "file"]) {
    expect({ id, ...(await metadataOf(service, id)) }).toMatchObject({ loaded: false, memory_bytes: null });
  }
});

test("states after a restart what an earlier load has measured", async () => {
  await using folder = await temporaryDirectory();
  const file = await shallowModelPath(await defaultChatModelPath());
  const config = `
builtin_models: false
local: { load: on_demand }
models: [{ id: shallow, task: chat, deployments: [{ engine: llama-cpp, file: "${file}" }] }]
`;
  const start = () => startServiceProcess({ config, environment: { PARLANCE_DATA_DIR: folder.path } });
  const first = await start();
  await eventually(async () => expect((await metadataOf(first, "shallow")).status).toBe("available"));
  expect(await metadataOf(first, "shallow")).toMatchObject({ context_window: null, capabilities: { reasoning: null } });
  const body = { model: "shallow", messages: [{ role: "user", content: "Hi" }], max_tokens: 1 };
  expect((await first.post("/v1/chat/completions", body)).status).toBe(200);
  const { context_window, context_window_reason, capabilities } = await metadataOf(first, "shallow");
  expect({ context_window, capabilities }).toMatchObject({
    context_window: expect.any(Number),
    capabilities: { reasoning: false, infill: false },
  });
  await first.stop();

  const second = await start();
  const { loaded, ...restored } = await metadataOf(second, "shallow");
  expect(loaded).toBe(false);
  expect(restored).toMatchObject({ context_window, context_window_reason, capabilities });
  await second.stop();
});
