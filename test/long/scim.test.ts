/** The compliance checks of PyPI's scim2-tester. */

import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasPython, installPython } from "../support/service/python-environment.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const run = promisify(execFile);
const REQUIREMENT = "scim2-tester[httpx2]==0.5.2";
const SCRIPT = resolve(import.meta.dirname, "../support/scim/check_server.py");

let service: ServiceProcess;
beforeAll(async () => {
  service = await startServiceProcess({ config: "builtin_models: false\nmodels: []\n" });
});
afterAll(() => service?.stop());

test.runIf(hasPython)(
  "passes every check of scim2-tester with a key for SCIM alone",
  { timeout: 300_000 },
  async () => {
    const response = await fetch(`${service.origin}/v1/organization/admin_api_keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name: "Directory", permissions: ["organization.scim.write"] }),
    });
    const { value } = (await response.json()) as { value: string };
    const bin = await installPython("scim-tester", REQUIREMENT);
    const { stdout } = await run(join(bin, "python"), [SCRIPT], {
      env: { PATH: process.env.PATH, SCIM_BASE_URL: `${service.origin}/scim/v2`, SCIM_TOKEN: value },
      maxBuffer: 1 << 26,
    });
    const checks = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { status: string; title: string; resource: string | null });
    expect(checks.filter(({ status }) => status !== "SUCCESS")).toEqual([]);
    expect(checks.length).toBeGreaterThan(90);
    expect(new Set(checks.map(({ resource }) => resource))).toEqual(new Set([null, "User", "Group"]));
  },
);
