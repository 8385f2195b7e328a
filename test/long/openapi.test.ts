/** Schemathesis makes requests from /openapi.json, valid and invalid ones, and finds no undocumented answer. */

import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasPython, installPython } from "../support/service/python-environment.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const run = promisify(execFile);
const REQUIREMENT = "schemathesis==4.32.5";
const HOOKS = resolve(import.meta.dirname, "../support/fuzz/schemathesis_hooks.py");
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
ollama: { enabled: true }
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - { id: embed, task: embedding, deployments: [{ engine: sentence-embeddings }] }
  - { id: speech, task: speech, deployments: [{ engine: scripted, speech: { voices: [low] } }] }
  - { id: listen, task: transcription, deployments: [{ engine: scripted, replies: [{ text: One. }] }] }
`;

describe.runIf(hasPython)("the OpenAPI document", () => {
  let service: ServiceProcess;
  let program: string;
  let project: string;

  beforeAll(async () => {
    const install = installPython("schemathesis", REQUIREMENT);
    const [started, bin] = await Promise.all([startServiceProcess({ config: CONFIG }), install]);
    service = started;
    program = join(bin, "schemathesis");
    const response = await fetch(`${service.origin}/v1/organization/projects`, {
      headers: { authorization: `Bearer ${service.adminKey}` },
    });
    const { data } = (await response.json()) as { data: { id: string }[] };
    project = data[0]?.id ?? "";
  }, 300_000);
  afterAll(() => service?.stop());

  test.each([
    ["models", "^/(v1/(?!organization)|v2|api)", () => service.apiKey],
    ["administration", "^/v1/organization", () => service.adminKey],
    ["health, metrics and the console", "^/(?!v1|v2|api)", () => service.adminKey],
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
