/** Coding agents for the command line, with the settings of the guide and otherwise their defaults. */

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
  /** Parameters of a command that goes before, such as a sign-in. */
  setup?(baseUrl: string): readonly string[];
  parameters: readonly string[];
  /** Text that the scripted model repeats, where a message of the agent follows the prompt. */
  answer?: string;
  environment(baseUrl: string): Record<string, string>;
  files(baseUrl: string): Record<string, object>;
}

/** Configuration of opencode and of those that began as its copies. */
const opencodeConfig = (baseURL: string) => ({
  model: `parlance/${TOOLS_MODEL}`,
  provider: {
    parlance: {
      npm: "@ai-sdk/openai-compatible",
      options: { baseURL, apiKey: "{env:PARLANCE_KEY}" },
      models: { [TOOLS_MODEL]: {} },
    },
  },
});

const AGENTS: Partial<Record<NpmClient, CodingAgent>> = {
  "opencode-ai": {
    command: "opencode",
    parameters: ["run", "Echo this"],
    environment: () => ({ PARLANCE_KEY: service.apiKey }),
    files: (baseUrl) => ({ "opencode.json": opencodeConfig(baseUrl) }),
  },
  "@kilocode/cli-linux-x64": {
    // The package of its command, which has a newer version than this one.
    command: "../@kilocode/cli-linux-x64/bin/kilo",
    parameters: ["run", "Echo this"],
    environment: () => ({ PARLANCE_KEY: service.apiKey }),
    files: (baseUrl) => ({ ".config/kilo/kilo.json": opencodeConfig(baseUrl) }),
  },
  "@github/copilot": {
    command: "copilot",
    parameters: ["-p", "Echo this"],
    environment: (baseUrl) => ({
      COPILOT_PROVIDER_BASE_URL: baseUrl,
      COPILOT_PROVIDER_API_KEY: service.apiKey,
      COPILOT_MODEL: TOOLS_MODEL,
    }),
    files: () => ({}),
  },
  "@google/gemini-cli": {
    command: "gemini",
    parameters: ["--skip-trust", "-p", "Echo this"],
    environment: (baseUrl) => ({
      GOOGLE_GEMINI_BASE_URL: new URL(baseUrl).origin,
      GEMINI_API_KEY: service.apiKey,
    }),
    files: () => ({ ".gemini/settings.json": { security: { auth: { selectedType: "gemini-api-key" } } } }),
  },
  "@moonshot-ai/kimi-code": {
    command: "kimi",
    parameters: ["-p", "Echo this"],
    answer: "Auto permission mode is active",
    environment: (baseUrl) => ({
      KIMI_MODEL_NAME: TOOLS_MODEL,
      KIMI_MODEL_BASE_URL: baseUrl,
      KIMI_MODEL_API_KEY: service.apiKey,
    }),
    files: () => ({}),
  },
  cline: {
    command: "cline",
    setup: (baseUrl) => ["auth", "-p", "openai-compatible", "-b", baseUrl, "-k", service.apiKey, "-m", TOOLS_MODEL],
    parameters: ["-P", "openai-compatible", "-m", TOOLS_MODEL, "Echo this"],
    environment: () => ({}),
    files: () => ({}),
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
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), JSON.stringify(content));
    }
    const options = { cwd: directory, environment: { HOME: directory, ...agent.environment(baseUrl) } };
    if (agent.setup !== undefined) await runCommand(file, agent.setup(baseUrl), options);
    const { code, output } = await runCommand(file, agent.parameters, options);
    const requests = recorder.take();
    if (UPDATES) await writeRecording({ client, version, requests });
    expect(output).toContain(agent.answer ?? "Echo this");
    expect(code).toBe(0);
  });
});
