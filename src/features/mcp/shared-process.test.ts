/** Callers share the process of a server: what one of them makes it write is that caller's alone. */

import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../kernel/logger.ts";
import type { CallToolResult } from "./mcp-connection.ts";
import { ServerProcess } from "./server-process.ts";

const RAW_SERVER = new URL("../../../test/support/mcp/raw-server.ts", import.meta.url).pathname;
const MAX_BYTES = 1_000_000;
const TOO_LARGE = "more than 1,000,000 bytes, the limit for one message";

let server: ServerProcess;
beforeEach(() => {
  server = new ServerProcess({
    name: "raw",
    command: [process.execPath, RAW_SERVER],
    environment: {},
    maxMemoryBytes: 500 * 2 ** 20,
    maxBytes: MAX_BYTES,
    connectTimeoutMs: 60_000,
    onFacts: () => {},
    logger: createLogger("silent"),
    onListChanged: () => {},
  });
  onTestFinished(() => server.close());
});

async function call(name: string, input: object = {}): Promise<unknown> {
  const tool = { name, inputSchema: { type: "object" as const } };
  const result: CallToolResult = await server.connect().callTool(tool, { ...input }, new AbortController().signal);
  return (result.content?.[0] as { text?: string } | undefined)?.text;
}

test.each(["first", "last"])("a result that is too large fails its call alone, with the ID %s", async (kind) => {
  const held = call("hold");
  await call("quick");
  const connection = server.connect();
  for (let count = 0; count < 3; count += 1) {
    await expect(call("large", { kind, size: 3 * MAX_BYTES })).rejects.toThrow(TOO_LARGE);
    expect(await call("quick")).toBe("quick");
  }
  expect(await call("large", { kind, size: MAX_BYTES - 1000 })).toHaveLength(MAX_BYTES - 1000);
  await call("release");
  expect(await held).toBe("released");
  expect(server.connect()).toBe(connection);
});

test("the oldest call fails where the ID cannot be read", async () => {
  await expect(call("large", { kind: "hidden", size: 2 * MAX_BYTES })).rejects.toThrow(TOO_LARGE);
  expect(await call("quick")).toBe("quick");
});

test("a notification that is too large is left out", async () => {
  expect(await call("large", { kind: "notification", size: 2 * MAX_BYTES })).toBe("after a large notification");
});

test("more notifications and questions than are taken are left out, and other calls go on", async () => {
  const held = call("hold");
  expect(await call("notify", { size: 30_000 })).toBe("notified");
  expect(await call("ask", { size: 60 })).toBe("answered");
  await call("release");
  expect(await held).toBe("released");
});
