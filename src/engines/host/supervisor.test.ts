import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { makeEngineServices } from "../../../test/support/models/engine-services.ts";
import { ask, closeHosted, isRunning, openHosted } from "../../../test/support/models/host-fixture.ts";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { readAnswer } from "../../../test/support/service/read-answer.ts";
import { RestartBackoff } from "../../kernel/process/restart-backoff.ts";
import { SUPERVISION, Supervisor } from "./supervisor.ts";

afterEach(closeHosted);

interface Waits {
  abortGraceSeconds?: number;
  firstSeconds: number;
}

test.each([
  ["SIGKILL", /ran out of memory/],
  ["SIGSEGV", /SIGSEGV/],
  ["SIGABRT", /SIGABRT/],
] as const)(
  "%s fails the requests in flight with a Fault after their first events, and the model restarts",
  async (signal, how) => {
    const { model, logged } = await openHosted("chat");
    const { model: other } = await openHosted("chat");
    const untouched = readAnswer(ask(other, "count 20000"));
    const events = ask(model, "forever")[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ type: "text" });
    const { pid } = model;
    const killedAt = Date.now();
    process.kill(pid as number, signal);
    const failure = await drain(events);
    expect(failure).toMatchObject({ name: "Fault", kind: "unavailable", code: "engine_failed" });
    expect((failure as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThanOrEqual(1);
    expect(model.health()).toMatchObject({ state: "restarting", reason: expect.stringMatching(how) });
    await expect(readAnswer(ask(model, "count 1"))).rejects.toMatchObject({ code: "engine_failed" });
    await eventually(() => expect(model.health().state).toBe("up"));
    expect(model.health()).toEqual({ state: "up", restartedAt: expect.toSatisfy((at) => at >= killedAt) });
    expect(other.health()).toEqual({ state: "up", restartedAt: undefined });
    expect(model.pid).not.toBe(pid);
    expect((await readAnswer(ask(model, "count 2"))).text).toBe("1 2 ");
    expect((await untouched).finish).toMatchObject({ usage: { completionTokens: 1 } });
    await eventually(() => expect(logged.join("")).toMatch(/model process ended[\s\S]*up again/));
  },
);

test("reports the exit code of a process that ends by itself and logs its last output", async () => {
  const { model, logged } = await openHosted("chat");
  await readAnswer(ask(model, "print famous-last-words"));
  await expect(readAnswer(ask(model, "exit 3"))).rejects.toMatchObject({ message: expect.stringContaining("code 3") });
  await eventually(() => expect(logged.join("")).toMatch(/"lastOutput":\["famous-last-words"\]/));
});

test("backs off restarts of a model that cannot be opened, reports the reason and ends in failed", async () => {
  const directory = await mkdtemp(join(tmpdir(), "parlance-host-"));
  try {
    const failWhenExists = join(directory, "gone");
    await using supervised = await supervise({ failWhenExists }, { firstSeconds: 0.2 });
    const { supervisor } = supervised;
    await writeFile(failWhenExists, "");
    process.kill(supervisor.pid as number, "SIGKILL");
    await eventually(() => expect(supervisor.health()).toMatchObject({ reason: "The weights are gone." }));
    await eventually(() => expect(supervisor.health().state).toBe("failed"));
    await rm(failWhenExists);
    const health = supervisor.health();
    // The wait is now 16 times the first, less at most a quarter of jitter.
    expect(health.state === "up" ? 0 : health.retryAfterSeconds).toBeGreaterThan(1);
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("kills a process that does not end an aborted call", async () => {
  await using supervised = await supervise({}, { abortGraceSeconds: 0.2, firstSeconds: 0.1 });
  const { supervisor } = supervised;
  const { pid } = supervisor;
  const { signal } = new AbortController();
  // Without functions, which cannot be sent between processes.
  const request = makeChatRequest({ say: "deaf" });
  for await (const _ of supervisor.call(request, undefined, signal)) break;
  await eventually(() => expect(isRunning(pid)).toBe(false));
  await eventually(() => expect(supervisor.health().state).toBe("up"));
});

test.each(["forever", "busy 60000"])(
  "ends the model's process and its program when the service is killed, with the model in state %s",
  async (say) => {
    const service = spawn(
      process.execPath,
      [join(import.meta.dirname, "../../../test/support/service/killable-child.ts"), say],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    const [line] = (await Array.fromAsync(take(createInterface({ input: service.stdout }), 1))) as [string];
    const pids = line.split(" ").map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    service.kill("SIGKILL");
    await eventually(() => expect(pids.map(isRunning)).toEqual([false, false]));
  },
);

test("doubles the wait after each crash, within bounds, and resets it after a stable run", () => {
  const backoff = new RestartBackoff({ firstSeconds: 1, lastSeconds: 20, stableSeconds: 60 });
  const waits = Array.from({ length: 8 }, () => backoff.next(0));
  for (const [index, seconds] of waits.entries()) {
    const middle = Math.min(20, 2 ** index);
    expect(seconds).toBeGreaterThanOrEqual(0.75 * middle);
    expect(seconds).toBeLessThanOrEqual(1.25 * middle);
  }
  expect(new Set(waits.slice(5)).size).toBe(3);
  expect(backoff.next(61)).toBeLessThanOrEqual(1.25);
  expect(backoff.failures).toBe(1);
});

/** Supervises as `hostModel` does, with these waits. */
async function supervise(
  settings: { failWhenExists?: string },
  { abortGraceSeconds = SUPERVISION.abortGraceSeconds, firstSeconds }: Waits,
): Promise<AsyncDisposable & { supervisor: Supervisor }> {
  const { logger, signal, name } = makeEngineServices();
  const supervisor = new Supervisor({
    ...SUPERVISION,
    name,
    module: new URL("../../../test/support/models/hosted-child.ts", import.meta.url),
    settings: { task: "chat", ...settings },
    environment: {},
    logger,
    abortGraceSeconds,
    backoff: { ...SUPERVISION.backoff, firstSeconds },
  });
  await supervisor.open(signal);
  return { supervisor, [Symbol.asyncDispose]: () => supervisor.close() };
}

async function drain(events: AsyncIterator<unknown>): Promise<unknown> {
  try {
    for (let next = await events.next(); !next.done; next = await events.next());
  } catch (failure) {
    return failure;
  }
  return undefined;
}

async function* take<Item>(items: AsyncIterable<Item>, count: number) {
  let taken = 0;
  for await (const item of items) {
    yield item;
    if (++taken === count) return;
  }
}
