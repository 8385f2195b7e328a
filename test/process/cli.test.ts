/** Commands that talk to a running service. */

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanEnvironment } from "../support/service/clean-environment.ts";
import { EXECUTABLE } from "../support/service/executable.ts";
import { type Finished, runParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { temporaryDirectory } from "../support/service/temporary-directory.ts";

const CONFIG = `
local: { load: on_demand }
models:
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        replies:
          - { match: slowly, text: "At last.", delay_ms_before_first: 1500 }
          - { match: count, text: "${"one ".repeat(400)}", delay_ms_per_token: 50 }
          - { text: "Squawk! Hello." }
`;

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
});
afterAll(() => service.stop());

function environmentOf({ dataDirectory, configFile }: ServiceProcess): Record<string, string> {
  return { PARLANCE_DATA_DIR: dataDirectory, PARLANCE_CONFIG: configFile };
}

function parlance(...words: string[]): Promise<Finished> {
  return runParlance(words, { cwd: service.dataDirectory, environment: environmentOf(service) });
}

/** Writes each input once the terminal shows what precedes it. */
async function inTerminal(words: string, dialog: readonly (readonly [shown: RegExp, input: string])[]) {
  const child = spawn("script", ["-qfec", `${process.execPath} ${EXECUTABLE} ${words}`, "/dev/null"], {
    env: { ...cleanEnvironment(), ...environmentOf(service) },
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const exited = new Promise<number | null>((done) => child.once("exit", done));
  let seen = 0;
  for (const [shown, input] of dialog) {
    await expect.poll(() => stripVTControlCharacters(output.slice(seen))).toMatch(shown);
    seen = output.length;
    child.stdin.write(input);
  }
  return { code: await exited, output };
}

test("loads, lists and unloads a model, and records it in the audit log", async () => {
  expect((await parlance("models", "load", "flite")).stdout).toMatch(
    /^Loaded flite in [\d.]+ s, [\d.]+ MB of memory\.$/m,
  );
  expect((await parlance("models", "ps")).stdout).toMatch(/^flite +speech +[\d.]+ MB/m);
  expect(JSON.parse((await parlance("models", "unload", "flite", "--json")).stdout)).toMatchObject({
    id: "flite",
    deployments: [{ state: "unloaded" }],
  });
  expect((await parlance("models", "ps")).stdout).toContain("No local model is loaded");
  expect(await parlance("models", "load", "nobody")).toMatchObject({
    code: 1,
    stderr: "error: The model `nobody` does not exist.\n",
  });
  const headers = { authorization: `Bearer ${service.adminKey}` };
  const answer = await fetch(`${service.origin}/v1/organization/audit_logs?resource_ids=flite`, { headers });
  const { data } = (await answer.json()) as { data: { type: string }[] };
  expect(data.map(({ type }) => type)).toEqual(["model.unloaded", "model.loaded"]);
});

test("leaves no key behind", async () => {
  await parlance("models", "ps");
  expect((await parlance("keys", "list")).stdout).not.toContain("Command line");
});

test("chat answers a prompt from standard input", async () => {
  const child = spawn(process.execPath, [EXECUTABLE, "chat", "parrot"], {
    env: { ...cleanEnvironment(), ...environmentOf(service) },
  });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  child.stdin.end("Hello?\n");
  expect(await new Promise((done) => child.once("exit", done))).toBe(0);
  expect(output).toBe("Squawk! Hello.\n");
});

test("what an answer or a failure contains does not command the terminal", async () => {
  const child = spawn(process.execPath, [EXECUTABLE, "chat", "\u001b[2Jnobody\u009b"], {
    env: { ...cleanEnvironment(), ...environmentOf(service) },
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdin.end("Hello?\n");
  expect(await new Promise((done) => child.once("close", done))).toBe(1);
  expect(errors).toContain("[2Jnobody");
  expect(errors).not.toMatch(/[^\P{Cc}\n\t]/u);
});

test.runIf(existsSync("/usr/bin/script"))("chat holds a conversation, and Ctrl-C stops an answer", async () => {
  const { code, output } = await inTerminal("chat parrot", [
    [/> $/, "Hello?\n"],
    [/Squawk! Hello\.[\s\S]*> $/, "Please count.\n"],
    [/one one one/, "\u0003"],
    [/\(stopped\)[\s\S]*> $/, "/exit\n"],
  ]);
  expect(code).toBe(0);
  expect(output.match(/one/g)?.length).toBeLessThan(300);
});

test.runIf(existsSync("/usr/bin/script"))("chat changes its model and settings, and shows that it waits", async () => {
  const { code, output } = await inTerminal("chat parrot", [
    [/> $/, "/model nobody\n"],
    [/error: The model `nobody` does not exist[\s\S]*> $/, "/set max_completion_tokens 1\n"],
    [/max_completion_tokens = 1\s+> $/, "Hello?\n"],
    [/Squawk!(?! Hello)[\s\S]*> $/, "/set max_completion_tokens\n"],
    [/No settings\.\s+> $/, "Answer slowly.\n"],
    [/Waiting[\s\S]*At last\.[\s\S]*> $/, "/sing\n"],
    [/There is no command `\/sing`[\s\S]*> $/, "/exit\n"],
  ]);
  expect(code).toBe(0);
  expect(output).toContain("/help lists the commands");
});

test("commands on a service name it where none runs", async () => {
  await using elsewhere = await temporaryDirectory();
  for (const words of [["models", "ps"], ["chat"]]) {
    const { code, stderr } = await runParlance(words, {
      cwd: elsewhere.path,
      environment: { PARLANCE_DATA_DIR: elsewhere.path },
    });
    expect(stderr).toContain(`error: No service runs with the data directory ${elsewhere.path}.`);
    expect(code).toBe(1);
  }
});

test("doctor finds the service, the database and the models, and exits with 1 for an error", async () => {
  const found = await parlance("doctor", "--json");
  const { checks, models } = JSON.parse(found.stdout);
  expect(checks).toContainEqual({ name: "Service", state: "ok", detail: `runs at ${service.origin}` });
  expect(checks).toContainEqual({ name: "Database", state: "ok", detail: "SQLite" });
  expect(models).toContainEqual(
    expect.objectContaining({ id: "smollm2-135m-instruct", tokensPerSecond: expect.any(Number) }),
  );
  const environment = {
    ...environmentOf(service),
    DATABASE_URL: "postgres://u:p@127.0.0.1:1/x",
    REDIS_URL: "redis://127.0.0.1:1",
  };
  const broken = await runParlance(["doctor"], { cwd: service.dataDirectory, environment });
  expect(broken.stdout).toMatch(/^error +Database +connect ECONNREFUSED 127\.0\.0\.1:1\. Check DATABASE_URL/m);
  expect(broken.stdout).toMatch(/^error +Redis +connect ECONNREFUSED 127\.0\.0\.1:1\. Check REDIS_URL/m);
  expect(broken.code).toBe(1);
});
