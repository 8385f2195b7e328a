/** Clients that a command starts with the settings of the running service. */

import { chmod, mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type Finished, spawnParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const CONFIG = `
builtin_models: false
models:
  - id: team-coder
    task: chat
    aliases: ["claude-*"]
    deployments: [{ engine: scripted, abilities: { tools: true }, context_window: 65536, echo: true }]
  - { id: other, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: listen, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
`;

/** Prints what it was started with and whether its key works, and ends with the code of its last parameter. */
const CLIENT = `#!${process.execPath}
const { OPENAI_API_KEY: openai, ANTHROPIC_AUTH_TOKEN: anthropic, OPENAI_API_BASE_URL, ANTHROPIC_BASE_URL } = process.env;
const origin = ANTHROPIC_BASE_URL ?? process.env.SERVICE_ORIGIN;
const key = anthropic ?? openai;
const answer = await fetch(origin + "/v1/models", { headers: { authorization: "Bearer " + key } });
const { ANTHROPIC_API_KEY, ANTHROPIC_MODEL, CLAUDE_CODE_ATTRIBUTION_HEADER, OPENCODE_CONFIG_CONTENT, ENABLE_PERSISTENT_CONFIG } = process.env;
const environment = { ANTHROPIC_API_KEY, ANTHROPIC_MODEL, CLAUDE_CODE_ATTRIBUTION_HEADER, OPENCODE_CONFIG_CONTENT, ENABLE_PERSISTENT_CONFIG, OPENAI_API_BASE_URL };
console.log(JSON.stringify({ parameters: process.argv.slice(2), status: answer.status, key, environment }));
process.exit(Number(process.argv.at(-1)) || 0);
`;

let service: ServiceProcess;
let programs: string;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
  programs = join(service.dataDirectory, "programs");
  await mkdir(programs);
  await writeFile(join(programs, "package.json"), '{ "type": "module" }');
  for (const program of ["claude", "codex", "opencode", "open-webui"]) {
    await writeFile(join(programs, program), CLIENT);
    await chmod(join(programs, program), 0o755);
  }
});
afterAll(() => service.stop());

function launch(words: readonly string[], environment: Record<string, string> = {}): Promise<Finished> {
  return spawnParlance(["launch", ...words], {
    cwd: service.dataDirectory,
    environment: {
      PARLANCE_DATA_DIR: service.dataDirectory,
      PARLANCE_CONFIG: service.configFile,
      PATH: `${programs}${delimiter}${process.env.PATH}`,
      SERVICE_ORIGIN: service.origin,
      ...environment,
    },
  });
}

async function started(...words: string[]) {
  const { code, stdout, stderr } = await launch(words);
  expect(code, stderr).toBe(0);
  const { key, ...report } = JSON.parse(stdout);
  expect(report.status).toBe(200);
  // The key ended with the client, which the service notices within a second.
  const headers = { authorization: `Bearer ${key}` };
  await expect.poll(async () => (await service.fetch("/v1/models", { headers })).status).toBe(401);
  return report;
}

test("starts Claude Code with the aliases of its models, without the user's key", async () => {
  const { environment, parameters } = await started("claude", "--", "-p", "Hello");
  expect(parameters).toEqual(["-p", "Hello"]);
  expect(environment).toEqual({ CLAUDE_CODE_ATTRIBUTION_HEADER: "0" });
  const named = await started("claude", "--model", "other");
  expect(named.environment).toEqual({ ANTHROPIC_MODEL: "other", CLAUDE_CODE_ATTRIBUTION_HEADER: "0" });
  const withKey = await launch(["claude"], { ANTHROPIC_API_KEY: "sk-ant-users-own" });
  expect(withKey.stdout).not.toContain("sk-ant-users-own");
});

const agents = (models: string) => `
builtin_models: false
models:
  - { id: small, task: chat, deployments: [{ engine: scripted, abilities: { tools: true }, echo: true, context_window: 8192 }] }
  - { id: silent, task: chat, deployments: [{ engine: scripted, echo: true, context_window: 131072 }] }${models}
`;
const big = (id: string, window: number) =>
  `\n  - { id: ${id}, task: chat, deployments: [{ engine: scripted, abilities: { tools: true }, echo: true, context_window: ${window} }] }`;

test.each(["claude", "codex", "opencode"])(
  "starts %s with the largest model that has tools where the first is too small",
  async (client) => {
    const other = await startServiceProcess({ config: agents(big("large", 40_960) + big("larger", 65_536)) });
    onTestFinished(async () => void (await other.stop()));
    const words = ["launch", client, "--print", "--url", other.origin, "--key", other.apiKey];
    const { stdout, stderr } = await spawnParlance(words, { cwd: other.dataDirectory });
    expect(stdout, stderr).toMatch(/\blarger\b/);
  },
);

test("says what to pull where no model suits a coding agent", async () => {
  const other = await startServiceProcess({ config: agents("") });
  onTestFinished(async () => void (await other.stop()));
  const words = ["launch", "claude", "--url", other.origin, "--key", other.apiKey];
  expect(await spawnParlance(words, { cwd: other.dataDirectory })).toMatchObject({
    code: 1,
    stderr:
      "error: Claude Code needs a chat model with tools and a context window of at least 32,768 tokens; the largest is `small` with 8,192 tokens. Download one (`parlance models pull qwen3-4b`; `parlance models recommend` lists others), or name a model with --model.\n",
  });
});

test("starts Codex with its provider, model and context window", async () => {
  const { parameters } = await started("codex", "--", "exec", "Hello");
  expect(parameters).toEqual(
    [
      ["-c", 'model="team-coder"'],
      ["-c", 'model_provider="parlance"'],
      ["-c", "model_context_window=65536"],
      ["-c", 'web_search="disabled"'],
      ["-c", 'model_providers.parlance.name="Parlance"'],
      ["-c", `model_providers.parlance.base_url="${service.origin}/v1"`],
      ["-c", 'model_providers.parlance.env_key="OPENAI_API_KEY"'],
      ["exec", "Hello"],
    ].flat(),
  );
});

test("starts opencode with its configuration, and Open WebUI without keeping the key", async () => {
  const { environment } = await started("opencode", "--model", "other");
  expect(JSON.parse(environment.OPENCODE_CONFIG_CONTENT)).toMatchObject({
    model: "parlance/other",
    provider: { parlance: { options: { baseURL: `${service.origin}/v1`, apiKey: "{env:OPENAI_API_KEY}" } } },
  });
  const page = await started("open-webui");
  expect(page.parameters).toEqual(["serve"]);
  expect(page.environment).toEqual({
    ENABLE_PERSISTENT_CONFIG: "false",
    OPENAI_API_BASE_URL: `${service.origin}/v1`,
  });
});

test("passes the exit code on, and prints what it would start", async () => {
  expect((await launch(["opencode", "--", "7"])).code).toBe(7);
  const { stdout, code } = await launch(["codex", "--print", "--model", "other", "--", "exec", "It's me"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^export OPENAI_API_KEY=YOUR_API_KEY\ncodex -c 'model="other"' .* exec 'It'\\''s me'\n$/);
});

test.each([
  [["vim"], "There is no client `vim`. The clients are claude, codex, opencode, open-webui."],
  [["codex", "--model", "none"], "The model `none` does not exist"],
  [["codex", "--model", "listen"], "performs transcription. Name a chat model with --model."],
])("refuses %j", async (words, message) => {
  expect(await launch(words)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});

test("says how to install a client that is missing", async () => {
  expect(await launch(["codex"], { PATH: service.dataDirectory })).toMatchObject({
    code: 1,
    stderr: "error: Codex is not installed: there is no `codex` in PATH. Install it: npm install -g @openai/codex\n",
  });
});
