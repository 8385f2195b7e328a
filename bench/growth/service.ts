/** A service with a prepared database and configuration, and what it costs. */

import { readFileSync } from "node:fs";
import { type Contender, end, PROJECT_KEY, served } from "../routing/contenders.ts";
import { cpuSecondsOf } from "../routing/load.ts";

export const ADMIN_KEY = `sk-admin-bench-${"b".repeat(32)}`;

export interface Started extends Contender {
  startMs: number;
  startCpuMs: number;
  residentMebibytes(): number;
  /** Throws if the answer is not a success. */
  administer(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
}

export async function start(
  directory: string,
  config: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Started> {
  const beganAt = performance.now();
  const { child, origin } = await served(directory, config, {
    environment: { PARLANCE_ADMIN_KEY: ADMIN_KEY, ...environment },
  });
  return {
    name: directory,
    origin,
    headers: { authorization: `Bearer ${PROJECT_KEY}` },
    pid: child.pid,
    startMs: performance.now() - beganAt,
    startCpuMs: cpuSecondsOf(child.pid) * 1000,
    residentMebibytes: () => {
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      return Math.round(Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]) / 1024);
    },
    administer: async (method, path, body) => {
      const answer = await fetch(`${origin}/v1/organization/${path}`, {
        method,
        headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 300)}`);
      return JSON.parse(text);
    },
    stop: () => end(child),
  };
}
