import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isRunning } from "../../../test/support/models/host-fixture.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { ServerProcess } from "./server-process.ts";

const GROWING_SERVER = new URL("../../../test/support/mcp/growing-server.ts", import.meta.url).pathname;
const GROW = { name: "grow", inputSchema: { type: "object" as const } };

test.runIf(process.platform === "linux")(
  "ends a server with what it has started beyond its memory, and says so to the call",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "parlance-mcp-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const pidFile = join(directory, "pid");
    const server = new ServerProcess({
      name: "growing",
      command: [process.execPath, GROWING_SERVER],
      environment: { PID_FILE: new Secret(pidFile) },
      maxMemoryBytes: 500 * 2 ** 20,
      maxBytes: 2 ** 20,
      connectTimeoutMs: 60_000,
      onFacts: () => {},
      logger: createLogger("silent"),
      onListChanged: () => {},
    });
    onTestFinished(() => server.close());
    const call = server.connect().callTool(GROW, {}, new AbortController().signal);
    await expect(call).rejects.toThrow("Its process used more than 500 MiB of memory, its max_memory, and was ended.");
    await expect.poll(() => isRunning(Number(readFileSync(pidFile, "utf8")))).toBe(false);
    // It waits for a moment, and starts again.
    await expect.poll(() => attempt(() => server.connect())).toBe("");
  },
);

function attempt(action: () => unknown): string {
  try {
    action();
    return "";
  } catch (error) {
    return String(error);
  }
}
