/** Coding agents for the command line, with the settings of the guide and otherwise their defaults. */

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Service } from "../support/service/service.ts";
import { NPM_CLIENT_VERSIONS, type NpmClient } from "./npm-client-versions.ts";
import { installNpmClient, runCommand } from "./npm-clients.ts";
import { writeRecording } from "./recordings.ts";
import { reportChecks, UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";
import { startClientsService, TOOLS_MODEL } from "./start-clients-service.ts";

interface CodingAgent {
  command: string;
  parameters: readonly string[];
  environment(baseUrl: string): Record<string, string>;
  files(baseUrl: string): Record<string, object>;
}

const AGENTS: Partial<Record<NpmClient, CodingAgent>> = {
  "opencode-ai": {
    command: "opencode",
    parameters: ["run", "Echo this"],
    environment: () => ({ PARLANCE_KEY: service.apiKey }),
    files: (baseURL) => ({
      "opencode.json": {
        model: `parlance/${TOOLS_MODEL}`,
        provider: {
          parlance: {
            npm: "@ai-sdk/openai-compatible",
            options: { baseURL, apiKey: "{env:PARLANCE_KEY}" },
            models: { [TOOLS_MODEL]: {} },
          },
        },
      },
    }),
  },
  "@qwen-code/qwen-code": {
    command: "qwen",
    parameters: ["-p", "Echo this", "--auth-type", "openai"],
    environment: (baseUrl) => ({
      OPENAI_BASE_URL: baseUrl,
      OPENAI_API_KEY: service.apiKey,
      OPENAI_MODEL: TOOLS_MODEL,
    }),
    files: () => ({}),
  },
  "@continuedev/cli": {
    command: "cn",
    parameters: ["--config", "config.yaml", "-p", "Echo this"],
    environment: () => ({ CONTINUE_TELEMETRY_ENABLED: "0" }),
    files: (apiBase) => ({
      "config.yaml": {
        name: "Parlance",
        version: "1.0.0",
        schema: "v1",
        models: [{ name: "parlance", provider: "openai", model: TOOLS_MODEL, apiBase, apiKey: service.apiKey }],
      },
    }),
  },
};

let service: Service;
let recorder: RequestRecorder;
let directory: string;
beforeAll(async () => {
  service = await startClientsService();
  recorder = await startRecorder(service.origin);
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "parlance-agent-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));
afterAll(async () => {
  await recorder?.close();
  await service?.stop();
});

const versionOf = (client: string) => NPM_CLIENT_VERSIONS[client as NpmClient];
reportChecks(versionOf);

describe.each(Object.entries(AGENTS))("%s", (client, agent) => {
  test("answers with its tools and instructions", async () => {
    const version = versionOf(client);
    const file = await installNpmClient(client, version, agent.command);
    const baseUrl = `${recorder.origin}/v1`;
    for (const [name, content] of Object.entries(agent.files(baseUrl))) {
      await writeFile(join(directory, name), JSON.stringify(content));
    }
    const environment = { HOME: directory, ...agent.environment(baseUrl) };
    const { code, output } = await runCommand(file, agent.parameters, { cwd: directory, environment });
    const requests = recorder.take();
    if (UPDATES) await writeRecording({ client, version, requests });
    expect(output).toContain("Echo this");
    expect(code).toBe(0);
  });
});
