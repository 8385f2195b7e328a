/** Codex, unmodified and with its defaults, finishes a task against a scripted model through /v1/responses. */

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { NPM_CLIENT_VERSIONS } from "./npm-client-versions.ts";
import { installNpmClient, runCommand } from "./npm-clients.ts";
import { writeRecording } from "./recordings.ts";
import { reportChecks, UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";

const CLIENT = "@openai/codex";

const config = `
builtin_models: false
models:
  - id: scripted-coder
    task: chat
    deployments:
      - engine: scripted
        context_window: 200000
        abilities: { tools: true, reasoning: true, vision: true }
        replies:
          - match_tool: written by codex
            text: "The file is written."
          - match: hello.txt
            reasoning: "A command writes the file."
            tool_calls:
              - name: exec_command
                arguments: { cmd: "echo 'written by codex' > hello.txt && cat hello.txt" }
`;

let service: ServiceProcess;
let recorder: RequestRecorder;
let directory: string;
let codex: string;
beforeAll(async () => {
  [service, codex, directory] = await Promise.all([
    startServiceProcess({ config }),
    installNpmClient(CLIENT, NPM_CLIENT_VERSIONS[CLIENT], "codex"),
    mkdtemp(join(tmpdir(), "parlance-codex-")),
  ]);
  recorder = await startRecorder(service.origin);
});
afterAll(async () => {
  const requests = recorder?.take() ?? [];
  if (UPDATES) await writeRecording({ client: CLIENT, version: NPM_CLIENT_VERSIONS[CLIENT], requests });
  await recorder?.close();
  await service?.stop();
  await rm(directory, { recursive: true, force: true });
});

reportChecks(() => NPM_CLIENT_VERSIONS[CLIENT]);

async function writeHello(origin: string, more: readonly string[] = []): Promise<void> {
  const settings = [
    'model = "scripted-coder"',
    'model_provider = "parlance"',
    // Its web search runs on OpenAI's servers, so the service refuses it.
    'web_search = "disabled"',
    "[model_providers.parlance]",
    'name = "Parlance"',
    `base_url = "${origin}/v1"`,
    'env_key = "PARLANCE_API_KEY"',
    ...more,
  ];
  await rm(join(directory, "hello.txt"), { force: true });
  await writeFile(join(directory, "config.toml"), settings.join("\n"));
  const { code, output } = await runCommand(
    codex,
    ["exec", "--skip-git-repo-check", "--sandbox", "danger-full-access", "Write the file hello.txt"],
    { cwd: directory, environment: { HOME: directory, CODEX_HOME: directory, PARLANCE_API_KEY: service.apiKey } },
  );
  expect(output).toContain("The file is written.");
  expect(code).toBe(0);
  expect(await readFile(join(directory, "hello.txt"), "utf8")).toBe("written by codex\n");
}

const answered = (method: string, status: number) =>
  service.log().filter((line) => line.path === "/v1/responses" && line.method === method && line.status === status);

describe(CLIENT, () => {
  test("calls a tool, reads its result and answers", async () => {
    await writeHello(recorder.origin);
    const requests = answered("POST", 200);
    expect(requests.length).toBeGreaterThanOrEqual(2);
    expect(requests[0]?.ignoredFields).toBeUndefined();
  });

  test("does so over a WebSocket", async () => {
    const before = answered("POST", 200).length;
    // The recorder passes no WebSocket on.
    await writeHello(service.origin, ["supports_websockets = true"]);
    expect(answered("GET", 101).length).toBeGreaterThanOrEqual(1);
    expect(answered("POST", 200).length - before).toBeGreaterThanOrEqual(2);
  });
});
