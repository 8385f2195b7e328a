import { getPriority } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { runWithoutDescriptors } from "../../../test/support/service/without-descriptors.ts";
import { Child, type ChildOptions } from "./child.ts";
import { findOsSandbox } from "./os-sandbox.ts";

const start = (code: string, options: Partial<ChildOptions> = {}) =>
  new Child({
    program: process.execPath,
    args: ["--eval", code],
    environment: {},
    stdio: ["pipe", "pipe", "ignore"],
    ...options,
  });

const isLinux = process.platform === "linux";

test.runIf(isLinux)("runs at a lower priority than the service", async () => {
  const child = start("process.stdin.resume()");
  expect(getPriority(child.pid)).toBe(Math.min(19, getPriority() + 5));
  child.kill();
  expect(await child.ended).toMatchObject({ cause: "closed" });
});

test.runIf(isLinux)("ends a process that exceeds its CPU time or memory", async () => {
  const spinning = start("for (;;);", { budget: { cpuSeconds: 0.2 } });
  const growing = start("const all = []; for (;;) all.push(Buffer.alloc(1e6, 1));", {
    budget: { residentBytes: 300e6, cpuSeconds: 60 },
  });
  expect((await spinning.ended).cause).toBe("cpuSeconds");
  expect((await growing.ended).cause).toBe("residentBytes");
});

test("tells an exit, a crash, a signal from elsewhere and a failed start apart", async () => {
  expect(await start("process.exit(3)").ended).toMatchObject({ cause: "exit", code: 3 });
  expect((await start("process.abort()").ended).cause).toBe("crash");
  const killed = start("process.stdin.resume()");
  process.kill(killed.pid ?? 0, "SIGKILL");
  expect((await killed.ended).cause).toBe("killed");
  const missing = await start("", { program: "/nowhere/program" }).ended;
  expect(missing).toMatchObject({ cause: "not-started", error: { code: "ENOENT" } });
});

test.runIf(isLinux)("throws a Fault without file descriptors, and starts the next one", async () => {
  const outcome = await runWithoutDescriptors(`
    const { Child } = await import("${new URL("./child.ts", import.meta.url).href}");
    const options = { program: process.execPath, args: ["--version"], environment: {}, stdio: ["ignore", "pipe"] };
    const release = exhaust();
    const failure = await failureOf(() => new Child(options));
    release();
    const child = new Child(options);
    child.output(1).resume();
    report({ failure, next: (await child.ended).cause });
  `);
  expect(outcome).toEqual({ failure: { name: "Fault", code: "server_is_overloaded" }, next: "exit" });
});

test.runIf(isLinux)(
  "ends with a sandbox that is killed while it is set up, by its owner or from outside",
  async ({ skip }) => {
    const search = await findOsSandbox();
    if (!("sandbox" in search)) return skip("bubblewrap is not usable here");
    const confinement = search.sandbox.confine([], 2 ** 31);
    const killOne = async (isOwner: boolean) => {
      const child = start("process.stdin.resume()", { confinement, budget: { cpuSeconds: 20 } });
      child.output(1).resume();
      // The set-up takes some 10 ms: one of thirty such kills left a process that waited for the killed one.
      const until = performance.now() + 14 * Math.random();
      while (performance.now() < until) await nextTurn();
      if (isOwner) child.kill();
      else process.kill(child.pid ?? 0, "SIGKILL");
      expect((await child.ended).cause).toBe(isOwner ? "closed" : "killed");
    };
    const killMany = async (isOwner: boolean) => {
      for (let count = 0; count < 50; count += 1) await killOne(isOwner);
    };
    await Promise.all([true, false, true, false].map(killMany));
  },
);
