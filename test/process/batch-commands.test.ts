/** Commands that run files of requests. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chatLine } from "../support/service/batches.ts";
import { runParlance } from "../support/service/run-parlance.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const CONFIG = `
builtin_models: false
models:
  - id: parrot
    task: chat
    deployments:
      - engine: scripted
        replies: [{ match: never, delay_ms_before_first: 600000, text: Late. }, { text: Squawk! }]
`;

let service: ServiceProcess;
let input: string;
beforeAll(async () => {
  service = await startServiceProcess({ config: CONFIG });
  input = join(service.dataDirectory, "input.jsonl");
  const lines = [chatLine("a", "Hello"), chatLine("b", "And?"), chatLine("c", "Hm.", "none")];
  await writeFile(input, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
});
afterAll(() => service.stop());

function batches(...words: string[]) {
  const environment = { PARLANCE_DATA_DIR: service.dataDirectory, PARLANCE_CONFIG: service.configFile };
  return runParlance(["batches", ...words], { cwd: service.dataDirectory, environment });
}

test("runs a file, waits for it, and prints the answers and the failures", async () => {
  const { code, stdout, stderr } = await batches("create", input, "--wait");
  const answers = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(answers.map(({ custom_id }) => custom_id).sort()).toEqual(["a", "b"]);
  expect(answers[0].response.body.choices[0].message.content).toBe("Squawk!");
  const [, id = ""] = /^(batch_\w+) completed: 2 of 3 requests succeeded, 1 failed\.$/m.exec(stderr) ?? [];
  expect(code).toBe(1);
  expect((await batches("list")).stdout).toMatch(new RegExp(`^${id} +completed +3/3 +1 +/v1/chat/completions `, "m"));
  expect((await batches("results", id)).stdout).toBe(stdout);
  const [failed] = (await batches("results", id, "--errors")).stdout.trim().split("\n");
  expect(JSON.parse(failed ?? "")).toMatchObject({ custom_id: "c", response: { status_code: 404 } });
});

test("creates a batch with a key that stays, and cancels it", async () => {
  const slow = join(service.dataDirectory, "slow.jsonl");
  await writeFile(slow, JSON.stringify(chatLine("slow", "never")));
  const withKey = ["--key", service.apiKey];
  const created = await batches("create", slow, "--json", ...withKey);
  const { id } = JSON.parse(created.stdout);
  expect((await batches("results", id)).stderr).toMatch(/^error: The batch `batch_\w+` \(\w+\) has no answers yet\.$/m);
  expect((await batches("cancel", id, ...withKey)).stdout).toMatch(/^batch_\w+ cancell/);
});

test.each([
  [["create", "input.jsonl"], "Pass --wait or --key, or set PARLANCE_KEY."],
  [["create", "nowhere.jsonl", "--wait"], "nowhere.jsonl cannot be read (ENOENT)."],
  [["create", "parlance.yaml", "--wait"], "Name the path of the requests with --endpoint."],
  [["results", "batch_none"], "batch_none"],
])("refuses %j", async (words, message) => {
  expect(await batches(...words)).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
});
