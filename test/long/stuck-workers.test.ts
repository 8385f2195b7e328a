import { execFileSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { processState } from "../support/service/process-state.ts";
import { startServiceProcess } from "../support/service/service-process.ts";

test("a worker that is stuck is replaced, and a service ends with one", async () => {
  const service = await startServiceProcess({ config: "builtin_models: false\nserver: { workers: 2 }\n" });
  onTestFinished(async () => void (await service.stop()));
  const workers = () =>
    execFileSync("pgrep", ["-P", String(service.process.pid), "-f", "request-worker"], { encoding: "utf8" })
      .trim()
      .split("\n")
      .map(Number);
  await eventually(() => expect(workers()).toHaveLength(2));
  const [victim = 0] = workers();
  process.kill(victim, "SIGSTOP");
  await eventually(() => expect(processState(victim)).toBe("ended"));
  await eventually(() => expect(workers()).toHaveLength(2));
  expect(workers()).not.toContain(victim);
  for (let request = 0; request < 4; request += 1) {
    const answer = await fetch(`${service.baseUrl}/models`, { headers: { connection: "close" } });
    expect(answer.status).toBe(401);
    await answer.text();
  }
  const [last = 0] = workers();
  process.kill(last, "SIGSTOP");
  expect(await service.stop()).toBe(0);
  expect(processState(last)).toBe("ended");
});
