import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../../../test/support/service/eventually.ts";
import { endWithService } from "./end-with-service.ts";
import { isAlive } from "./process-owner.ts";

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
        const [program, ...args] = await endWithService([process.execPath, "-e", "setInterval(() => {}, 1e6)"]);
        console.log(spawn(program, args, { stdio: ["pipe", "ignore", "ignore"] }).pid);
      `,
    ],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = await once(service.stdout, "data");
  const pid = Number(String(line));
  expect(isAlive(pid)).toBe(true);
  service.kill("SIGKILL");
  await eventually(() => expect(isAlive(pid)).toBe(false));
});

test("leaves the command of a missing program as it is", async () => {
  expect(await endWithService(["no-such-program", "x"])).toEqual(["no-such-program", "x"]);
  expect(await endWithService(["/no/such/program"])).toEqual(["/no/such/program"]);
});
