import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { Registry } from "prom-client";
import { expect, test } from "vitest";
import { expectWithin } from "../../test/support/timing.ts";
import { createLogger } from "../kernel/logger.ts";
import { openTelemetry } from "./open-telemetry.ts";

test("does not delay the end of the service for a collector that does not answer", async () => {
  const sockets = new Set<Socket>();
  const silent = createServer((socket) => sockets.add(socket)).listen(0, "127.0.0.1");
  await once(silent, "listening");
  const origin = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const telemetry = await openTelemetry(
    {
      headers: {},
      serviceName: "parlance",
      traces: { url: `${origin}/v1/traces`, sampleRatio: 1, content: undefined },
      metrics: { url: `${origin}/v1/metrics`, intervalMs: 60_000 },
      logs: undefined,
    },
    new Registry(),
    createLogger("silent"),
  );
  telemetry?.tracing?.begin({}, () => ({ name: "span" })).end({});
  const startedAt = performance.now();
  await telemetry?.close();
  expectWithin(startedAt, 5000);
  expect(sockets.size).toBeGreaterThan(0);
  for (const socket of sockets) socket.destroy();
  silent.close();
});
