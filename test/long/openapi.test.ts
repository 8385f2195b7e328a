/** Schemathesis makes requests from /openapi.json, valid and invalid ones, and finds no undocumented answer. */

import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service.ts";

const run = promisify(execFile);
const REQUIREMENT = "schemathesis==4.32.5";
const ENVIRONMENT = resolve(import.meta.dirname, "../../node_modules/.cache/schemathesis");
const HOOKS = resolve(import.meta.dirname, "../support/schemathesis_hooks.py");
const CHECKS = [
  "not_a_server_error",
  "status_code_conformance",
  "content_type_conformance",
  "response_headers_conformance",
  "response_schema_conformance",
];
/** Generated requests of an operation, beside those that cover its boundaries. */
const MAX_EXAMPLES = 12;

const CONFIG = `
builtin_models: false
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: speech, task: speech, deployments: [{ engine: scripted, speech: { voices: [low] } }] }
  - { id: listen, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
`;

const hasPython = (() => {
  try {
    execFileSync(process.env.PYTHON ?? "python3", ["-c", "import venv, ensurepip"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

async function installSchemathesis(): Promise<string> {
  const bin = join(ENVIRONMENT, "bin");
  await mkdir(ENVIRONMENT, { recursive: true });
  if (!existsSync(join(bin, "python"))) await run(process.env.PYTHON ?? "python3", ["-m", "venv", ENVIRONMENT]);
  await run(join(bin, "python"), ["-m", "pip", "install", "--quiet", REQUIREMENT], { maxBuffer: 1 << 26 });
  return join(bin, "schemathesis");
}

describe.runIf(hasPython)("the OpenAPI document", () => {
  let service: Service;
  let program: string;
  let project: string;

  beforeAll(async () => {
    [service, program] = await Promise.all([startService({ config: CONFIG }), installSchemathesis()]);
    const response = await fetch(`${service.origin}/v1/organization/projects`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    project = data[0]?.id ?? "";
  }, 300_000);
  afterAll(() => service?.stop());

  test.each([
    ["models", "^/v1/(?!organization)", () => service.apiKey],
    ["administration", "^/v1/organization", () => service.adminKey],
    ["health, metrics and the console", "^/(?!v1)", () => service.adminKey],
  ])("documents every answer of %s", async (_name, paths, key) => {
    const report = await run(
      program,
      [
        "run",
        `${service.origin}/openapi.json`,
        ...["--url", service.origin],
        ...["--header", `Authorization: Bearer ${key()}`],
        ...["--include-path-regex", paths],
        ...["--checks", CHECKS.join(",")],
        ...["--phases", "examples,coverage,fuzzing"],
        ...["--max-examples", String(MAX_EXAMPLES)],
        ...["--seed", "19"],
        ...["--request-timeout", "30"],
        "--no-color",
      ],
      {
        // It keeps a folder with the failures that it found.
        cwd: service.dataDirectory,
        maxBuffer: 1 << 26,
        env: {
          PATH: process.env.PATH,
          HOME: process.env.HOME,
          PYTHONDONTWRITEBYTECODE: "1",
          SCHEMATHESIS_HOOKS: HOOKS,
          PARLANCE_PROJECT: project,
        },
      },
    ).then(
      () => "",
      ({ stdout }: { stdout: string }) => stdout.slice(Math.max(0, stdout.search(/=+ (FAILURES|ERRORS)/))),
    );
    expect(report).toBe("");
  });
});
