import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../../../test/support/service/eventually.ts";
import { processState } from "../../../test/support/service/process-state.ts";
import { runWithoutDescriptors } from "../../../test/support/service/without-descriptors.ts";
import { endWithService } from "./end-with-service.ts";

const [program] = await endWithService(["true"]);

test.runIf(program !== "true")("a program that reads no input ends with a process that was killed", async () => {
  const module = new URL("./end-with-service.ts", import.meta.url).href;
  const service = spawn(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      `
        import { spawn } from "node:child_process";
        import { endWithService } from "${module}";
        // It says that it runs: the kernel knows of its parent by then.
        const code = "console.log(process.pid); setInterval(() => {}, 1e6)";
        const [program, ...args] = await endWithService([process.execPath, "-e", code]);
        spawn(program, args, { stdio: ["pipe", "inherit", "ignore"] });
      `,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = await once(service.stdout, "data");
  const pid = Number(String(line));
  expect(processState(pid)).toMatch(/[RSD]/);
  service.kill("SIGKILL");
  await eventually(() => expect(processState(pid)).toMatch(/^(?:Z.*|ended)$/));
});

test("leaves the command of a missing program as it is", async () => {
  expect(await endWithService(["no-such-program", "x"])).toEqual(["no-such-program", "x"]);
  expect(await endWithService(["/no/such/program"])).toEqual(["/no/such/program"]);
});

test.runIf(program !== "true")("does not leave a command unwatched for lack of file descriptors", async () => {
  const outcome = await runWithoutDescriptors(`
    const { endWithService } = await import("${new URL("./end-with-service.ts", import.meta.url).href}");
    const release = exhaust();
    const failure = await failureOf(() => endWithService(["true"]));
    release();
    report({ failure, program: (await endWithService(["true"]))[0] });
  `);
  expect(outcome).toEqual({ failure: { name: "Fault", code: "server_is_overloaded" }, program });
});
