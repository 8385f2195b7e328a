/** Clients in Go, Rust, Java and Node, each with its own defaults. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/models/default-model.ts";
import type { Service } from "../support/service/service.ts";
import {
  buildProgram,
  CLIENT_PROGRAMS,
  type ClientProgram,
  hasToolchain,
  nodeProgram,
  runProgram,
} from "./client-programs.ts";
import { type ClientCheck, updateClientsTable } from "./clients-table.ts";
import { writeRecording } from "./recordings.ts";
import { UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";
import { startClientsService } from "./start-clients-service.ts";

const NODE_SCRIPTS = readdirSync(join(import.meta.dirname, "node")).filter((name) => /^(?!common).*\.mjs$/.test(name));

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

async function drive(program: ClientProgram): Promise<void> {
  const directory = await buildProgram(program);
  const address = { baseUrl: `${recorder.origin}/v1`, apiKey: service.apiKey, chatModel: DEFAULT_CHAT_MODEL };
  for (const name of program.clients) {
    const results = await runProgram(program, name, directory, address);
    checks.push(...results);
    const requests = recorder.take();
    const [{ client, version } = { client: name, version: "" }] = results;
    if (UPDATES) await writeRecording({ client, version, requests });
    expect(results.filter(({ error }) => error !== null)).toEqual([]);
  }
}

test.each(NODE_SCRIPTS)("node/%s", (script) => drive(nodeProgram(script)));

for (const program of CLIENT_PROGRAMS) {
  test.skipIf(!hasToolchain(program))(program.folder, { timeout: 1_800_000 }, () => drive(program));
}
