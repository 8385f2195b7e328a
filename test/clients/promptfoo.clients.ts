/** promptfoo as a command: it evaluates a prompt with its OpenAI provider, and embeds to compare texts. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Service } from "../support/service/service.ts";
import { NPM_CLIENT_VERSIONS } from "./npm-client-versions.ts";
import { installNpmClient, runCommand } from "./npm-clients.ts";
import { writeRecording } from "./recordings.ts";
import { reportChecks, UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

const CLIENT = "promptfoo";
const VERSION = NPM_CLIENT_VERSIONS[CLIENT];

let service: Service;
let recorder: RequestRecorder;
let directory: string;
beforeAll(async () => {
  service = await startClientsService();
  recorder = await startRecorder(service.origin);
  directory = await mkdtemp(join(tmpdir(), "parlance-promptfoo-"));
});
afterAll(async () => {
  if (UPDATES && recorder) await writeRecording({ client: CLIENT, version: VERSION, requests: recorder.take() });
  await recorder?.close();
  await service?.stop();
  if (directory) await rm(directory, { recursive: true, force: true });
});

reportChecks(() => VERSION);

/** Evaluates one prompt with one assertion; the command ends with 100 when the assertion fails. */
async function evaluate(assertion: object) {
  const config = {
    prompts: ["Echo {{word}}"],
    providers: [`openai:chat:${TOOLS_MODEL}`],
    tests: [{ vars: { word: "this" }, assert: [assertion] }],
  };
  await writeFile(join(directory, "promptfooconfig.yaml"), JSON.stringify(config));
  const file = await installNpmClient(CLIENT, VERSION, "promptfoo");
  return runCommand(file, ["eval", "--no-cache", "--no-table"], {
    cwd: directory,
    environment: {
      HOME: directory,
      OPENAI_BASE_URL: `${recorder.origin}/v1`,
      OPENAI_API_KEY: service.apiKey,
      PROMPTFOO_DISABLE_TELEMETRY: "1",
      PROMPTFOO_DISABLE_UPDATE: "1",
    },
  });
}

describe(CLIENT, () => {
  test("passes an assertion on an answer", async () => {
    const { code, output } = await evaluate({ type: "equals", value: "Echo this" });
    expect(code, output).toBe(0);
  });

  test("fails an assertion that does not hold", async () => {
    const { code, output } = await evaluate({ type: "equals", value: "Something else" });
    expect(code, output).toBe(100);
  });

  test("compares texts by embeddings", async () => {
    const provider = "openai:embedding:text-embedding-3-small";
    const { code, output } = await evaluate({ type: "similar", value: "Echo this", threshold: 0.9, provider });
    expect(code, output).toBe(0);
  });
});
