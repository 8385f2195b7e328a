/** A client's disconnect also aborts upstream requests of other operations than chat. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type Service, startService } from "../support/service/service.ts";
import { makeWave } from "../support/service/wave.ts";
import { type FaultName, type FaultyUpstream, startFaultyUpstream } from "../support/upstreams/faulty-upstream.ts";
import { metric } from "../support/upstreams/routed-faults.ts";

const OPERATIONS = ["speech", "transcription", "moderation", "rerank", "ollama-embed"] as const;
type Operation = (typeof OPERATIONS)[number];
const FAULTS = ["never-answers", "headers-then-hangs", "hangs-midway", "drips"] as const satisfies FaultName[];

const ROWS = OPERATIONS.flatMap((operation) => FAULTS.map((fault) => ({ operation, fault })));
const ROUNDS = 10;

let upstream: FaultyUpstream;
let service: Service;
beforeAll(async () => {
  upstream = await startFaultyUpstream();
  const models = ROWS.map(({ operation, fault }) => {
    const abilities = operation === "rerank" ? ", abilities: { rerank: true }" : "";
    const deployment = `{ engine: openai-compatible, base_url: "${upstream.baseUrlFor(fault)}"${abilities} }`;
    const task = operation === "rerank" || operation === "ollama-embed" ? "embedding" : operation;
    return `  - { id: ${operation}-${fault}, task: ${task}, deployments: [${deployment}, ${deployment}] }\n`;
  });
  const config = `builtin_models: false\nollama: { enabled: true }\nmodels:\n${models.join("")}`;
  service = await startService({ config });
});
afterAll(async () => {
  await service.stop();
  await upstream.close();
});

function send(operation: Operation, model: string, signal: AbortSignal): Promise<Response> {
  switch (operation) {
    case "speech":
      return service.post("/v1/audio/speech", { model, voice: "a", input: "Go.", response_format: "pcm" }, { signal });
    case "moderation":
      return service.post("/v1/moderations", { model, input: "Go." }, { signal });
    case "rerank":
      return service.post("/v1/rerank", { model, query: "Go?", documents: ["Go.", "Stop."] }, { signal });
    case "ollama-embed":
      return service.post("/api/embed", { model, input: ["Go.", "Stop."] }, { signal });
    case "transcription": {
      const form = new FormData();
      form.append("file", new Blob([makeWave({ seconds: 0.2 })]), "name.wav");
      form.append("model", model);
      return service.fetch("/v1/audio/transcriptions", { method: "POST", body: form, signal });
    }
  }
}

test.each(ROWS)("$operation, $fault", async ({ operation, fault }) => {
  const before = upstream.requests.get(fault) ?? 0;
  for (let round = 1; round <= ROUNDS; round += 1) {
    const leaving = new AbortController();
    const asked = send(operation, `${operation}-${fault}`, leaving.signal).then(
      (response) => response.arrayBuffer(),
      () => {},
    );
    await eventually(() => expect(upstream.requests.get(fault)).toBe(before + round));
    leaving.abort();
    await asked.catch(() => {});
    await eventually(() => expect(upstream.openSockets()).toBe(0));
  }
  await eventually(async () => expect(await metric(service, "parlance_slots_in_use{")).toBe(0));
  expect(upstream.requests.get(fault)).toBe(before + ROUNDS);
});
