/** Upgrades that are refused: no socket and no descriptor stays, and the process ends in time. */

import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { expectWithin } from "../support/timing.ts";

const DRAIN_SECONDS = 3;
const UPGRADES = 1000;
const AT_ONCE = 20;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "PROPFIND"];
const PATHS = ["/v1/realtime", "/v1/realtime?model=x", "/v1/realtime/x", "/v1/chat/completions", "/health/live", "/"];

let service: ServiceProcess | undefined;
afterEach(async () => {
  if (service?.process.exitCode === null) await service.stop("SIGKILL");
});

test.skipIf(process.platform !== "linux").each([1, 2])(
  "keeps no socket of refused upgrades, with %d processes for requests",
  async (workers) => {
    service = await startServiceProcess({
      config: `builtin_models: false\nserver: { workers: ${workers}, drain_seconds: ${DRAIN_SECONDS} }\n`,
    });
    const { log, origin, process: child } = service;
    const pids = [child.pid, ...log().flatMap(({ msg, pid }) => (msg === "a worker listens" ? [pid] : []))];
    const before = pids.map(socketsOf);
    const answers: string[] = [];
    const upgrade = async (index: number) => {
      const method = METHODS[index % METHODS.length];
      const path = PATHS[Math.floor(index / METHODS.length) % PATHS.length];
      answers.push(await refusedUpgrade(Number(new URL(origin).port), `${method} ${path}`));
    };
    for (let start = 0; start < UPGRADES; start += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => upgrade(start + index)));
    }
    expect(answers).toHaveLength(UPGRADES);
    expect(answers.filter((answer) => !/^HTTP\/1\.1 [245]\d\d /.test(answer))).toEqual([]);
    // A worker keeps some connections to the owner open.
    await eventually(() => {
      for (const [index, pid] of pids.entries()) {
        expect(socketsOf(pid)).toBeLessThanOrEqual((before[index] ?? 0) + 3 * AT_ONCE);
      }
    });
    const startedAt = performance.now();
    expect(await service.stop()).toBe(0);
    expectWithin(startedAt, 1000 * (DRAIN_SECONDS + 3));
  },
);

/** Returns the answer, empty if the connection ended without one; closes only its own direction, as a client does that waits for the server's. */
async function refusedUpgrade(port: number, operation: string): Promise<string> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }).on("error", () => {});
  socket.write(`${operation} HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n`);
  socket.write(`sec-websocket-version: 13\r\nsec-websocket-key: ${"a".repeat(22)}==\r\n\r\n`);
  // The direction of the service may end before the other one.
  const ends = ["end", "close"].map((event) => once(socket, event).then(() => [""]));
  const [answer] = (await Promise.race([once(socket, "data"), ...ends])) as [Buffer | ""];
  socket.resume();
  socket.end();
  return answer.toString("latin1");
}

function socketsOf(pid: unknown): number {
  const folder = `/proc/${pid}/fd`;
  const isSocket = (descriptor: string) => {
    try {
      return readlinkSync(`${folder}/${descriptor}`).startsWith("socket:");
    } catch {
      return false;
    }
  };
  return readdirSync(folder).filter(isSocket).length;
}
