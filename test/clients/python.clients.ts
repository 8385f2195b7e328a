import { readdirSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/default-model.ts";
import type { Service } from "../support/service.ts";
import { type ClientCheck, updateClientsTable } from "./clients-table.ts";
import { installPythonClients, PYTHON_SCRIPTS, runPythonClient } from "./python-clients.ts";
import { writeRecording } from "./recordings.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";
import { startClientsService } from "./start-clients-service.ts";

/** Clients whose dependencies conflict with those of the others. */
const REQUIREMENTS: Readonly<Record<string, string>> = {
  "aider_client.py": "requirements-aider.txt",
  "open_webui_client.py": "requirements-open-webui.txt",
};
const SCRIPTS = readdirSync(PYTHON_SCRIPTS).filter((name) => name.endsWith("_client.py"));
/** Writes the table and the recordings, instead of only driving the clients. */
const UPDATES = process.env.UPDATE_CLIENTS === "1";

let service: Service;
let recorder: RequestRecorder;
const checks: ClientCheck[] = [];

beforeAll(async () => {
  service = await startClientsService();
  recorder = await startRecorder(service.origin);
});
afterAll(async () => {
  await recorder?.close();
  await service?.stop();
  if (UPDATES) await updateClientsTable(checks);
});

describe("Python clients", () => {
  test.each(SCRIPTS)("%s", async (script) => {
    const interpreter = await installPythonClients(REQUIREMENTS[script] ?? "requirements.txt");
    const { apiKey } = service;
    const found = await runPythonClient(
      interpreter,
      script,
      { baseUrl: `${recorder.origin}/v1`, apiKey },
      DEFAULT_CHAT_MODEL,
    );
    checks.push(...found);
    const requests = recorder.take();
    const [first] = found;
    if (UPDATES && first !== undefined)
      await writeRecording({ client: first.client, version: first.version, requests });
    expect(found.filter(({ error }) => error !== null)).toEqual([]);
  });
});
