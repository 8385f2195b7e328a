import { expect, test, vi } from "vitest";
import { lastErrors, runCommand } from "./child-command.ts";

const options = { temporaryDirectory: "/tmp", signal: new AbortController().signal };
const node = (script: string, more = {}) => runCommand(process.execPath, ["-e", script], { ...options, ...more });

test("passes the user's settings to a package tool, but none of Parlance's secrets", async () => {
  vi.stubEnv("PIP_INDEX_URL", "https://mirror.example/simple");
  for (const name of [
    "PARLANCE_API_KEY",
    "PARLANCE_ADMIN_KEY",
    "DATABASE_URL",
    "DATABASE_READ_URL",
    "REDIS_URL",
    "HF_TOKEN",
  ]) {
    vi.stubEnv(name, "do-not-tell");
  }
  const { output, exitCode } = await node("console.log(JSON.stringify(process.env))");
  vi.unstubAllEnvs();
  expect(exitCode).toBe(0);
  expect(JSON.parse(output)).toMatchObject({ PIP_INDEX_URL: "https://mirror.example/simple", TMPDIR: "/tmp" });
  expect(output).not.toContain("do-not-tell");
});

test("kills a tool that exceeds its time limit or is aborted", async () => {
  expect((await node("setInterval(() => {}, 1000)", { endAfterMs: 300 })).exitCode).toBeUndefined();
  const leaving = new AbortController();
  const running = node("console.log('up'); setInterval(() => {}, 1000)", {
    signal: leaving.signal,
    onOutput: () => leaving.abort(new Error("enough")),
  });
  await expect(running).rejects.toThrow("enough");
});

test("reports the tool's error lines, without the password in a mirror's URL", () => {
  const output = "Collecting x\nERROR: no match at https://user:pass@mirror.example/simple\nERROR: gave up\n";
  expect(lastErrors(output)).toBe("ERROR: no match at https://mirror.example/simple ERROR: gave up");
  expect(lastErrors("one\ntwo\n")).toBe("one two");
});
