/** aichat as a command, with the settings of the guide. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import type { Service } from "../support/service/service.ts";
import { CARGO_CLIENT_VERSIONS, installCargoClient } from "./cargo-clients.ts";
import { hasCommand } from "./client-programs.ts";
import { runCommand } from "./npm-clients.ts";
import { writeRecording } from "./recordings.ts";
import { reportChecks, UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

const CLIENT = "aichat";
const VERSION = CARGO_CLIENT_VERSIONS.get(CLIENT) ?? "";

let service: Service;
let recorder: RequestRecorder;
let directory: string;
let file: string;
beforeAll(async () => {
  if (!hasCommand("cargo")) return;
  file = await installCargoClient(CLIENT);
  service = await startClientsService();
  recorder = await startRecorder(service.origin);
  directory = await mkdtemp(join(tmpdir(), "parlance-aichat-"));
  const parlance = { type: "openai-compatible", name: "parlance", api_key: service.apiKey };
  const models = [{ name: TOOLS_MODEL, supports_function_calling: true }, { name: DEFAULT_CHAT_MODEL }];
  const clients = [{ ...parlance, api_base: `${recorder.origin}/v1`, models }];
  await writeFile(join(directory, "config.yaml"), JSON.stringify({ model: `parlance:${TOOLS_MODEL}`, clients }));
}, 1_800_000);
afterAll(async () => {
  if (UPDATES && recorder) await writeRecording({ client: CLIENT, version: VERSION, requests: recorder.take() });
  await recorder?.close();
  await service?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

reportChecks(() => VERSION);

const ask = (...parameters: string[]) =>
  runCommand(file, parameters, { cwd: directory, environment: { HOME: directory, AICHAT_CONFIG_DIR: directory } });

describe.skipIf(!hasCommand("cargo"))(CLIENT, () => {
  test("streams in the terminal", async () => {
    expect(await ask("Echo this")).toEqual({ code: 0, output: "Echo this\n" });
  });

  test("answers without a stream", async () => {
    expect(await ask("--no-stream", "Echo this")).toEqual({ code: 0, output: "Echo this\n" });
  });

  test("streams from the default model", async () => {
    const { code, output } = await ask("-m", `parlance:${DEFAULT_CHAT_MODEL}`, "Say hello.");
    expect(output.trim()).not.toBe("");
    expect(code).toBe(0);
  });
});
