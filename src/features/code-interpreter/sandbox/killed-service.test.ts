/** Python that loops, of a service that is killed, where the operating system's sandbox is not there. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { eventually } from "../../../../test/support/service/eventually.ts";
import { processState } from "../../../../test/support/service/process-state.ts";
import { nodeCommand } from "./python-session.ts";

const [program] = await nodeCommand(undefined);

test.runIf(program !== process.execPath)("ends with its service", async () => {
  const module = new URL("./python-session.ts", import.meta.url).href;
  const code = `
    import { nodeCommand, PythonSession } from "${module}";
    const limits = { maxMemoryMegabytes: 384, timeoutSeconds: 900, maxOutputBytes: 1e4, maxFileBytes: 1e4, maxFiles: 5 };
    const session = new PythonSession(limits, undefined, await nodeCommand(undefined));
    const run = (code) => session.run({ code, files: [], removed: [] }, new AbortController().signal);
    await run("1");
    void run("while True: pass");
    console.log(session.pid);
  `;
  const service = spawn(process.execPath, ["--input-type=module", "--eval", code], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = await once(service.stdout, "data");
  const pid = Number(String(line));
  expect(processState(pid)).toMatch(/[RSD]/);
  service.kill("SIGKILL");
  await eventually(() => expect(processState(pid)).toMatch(/^(?:Z.*|ended)$/));
});
