/** Claude Code, unmodified, finishes a task against a scripted model through /v1/messages. */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { NPM_CLIENT_VERSIONS } from "./npm-client-versions.ts";
import { installNpmClient, runCommand } from "./npm-clients.ts";
import { writeRecording } from "./recordings.ts";
import { reportChecks, UPDATES } from "./report-checks.ts";
import { type RequestRecorder, startRecorder } from "./request-recorder.ts";

const CLIENT = "@anthropic-ai/claude-code";

let service: ServiceProcess;
let recorder: RequestRecorder;
let directory: string;
let claude: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "parlance-claude-"));
  const config = `
builtin_models: false
models:
  - id: scripted-coder
    task: chat
    deployments:
      - engine: scripted
        context_window: 200000
        abilities: { tools: true, reasoning: true, vision: true, json_schema: true }
        replies:
          - match_tool: "/written|created|updated/"
            text: "The file is written."
          - match: hello.txt
            text: "I write the file."
            tool_calls:
              - name: Write
                arguments: { file_path: "${join(directory, "hello.txt")}", content: "written by claude" }
        echo: true
`;
  [service, claude] = await Promise.all([
    startServiceProcess({ config }),
    installNpmClient(CLIENT, NPM_CLIENT_VERSIONS[CLIENT], "claude"),
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

describe(CLIENT, () => {
  test("calls a tool, reads its result and answers with its default models", async () => {
    const { code, output } = await runCommand(
      claude,
      ["--print", "Write the file hello.txt", "--permission-mode", "acceptEdits", "--output-format", "json"],
      {
        cwd: directory,
        environment: {
          HOME: directory,
          CLAUDE_CONFIG_DIR: directory,
          ANTHROPIC_BASE_URL: recorder.origin,
          ANTHROPIC_API_KEY: service.apiKey,
          DISABLE_AUTOUPDATER: "1",
        },
      },
    );
    expect(JSON.parse(output)).toMatchObject({ is_error: false, result: "The file is written." });
    expect(code).toBe(0);
    expect(await readFile(join(directory, "hello.txt"), "utf8")).toBe("written by claude");
    const requests = service.log().filter(({ path, status }) => path === "/v1/messages" && status === 200);
    expect(requests.length).toBeGreaterThanOrEqual(2);
    for (const { model, answeredBy } of requests) {
      expect(model).toMatch(/^claude-/);
      expect(answeredBy).toBe("scripted-coder");
    }
  });
});
