/** Closed-loop clients: each sends its next request when the response has arrived. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { Pool } from "undici";
import type { Contender } from "./contenders.ts";

export interface Measured {
  requests: number;
  perSecond: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  /** CPU time of the contender's process per request, which depends least on the machine's other load. */
  cpuMicroseconds: number;
}

export interface Load {
  stream: boolean;
  connections: number;
  seconds: number;
  /** Size of the body, in messages of a conversation; default: one short question. */
  bodyBytes?: number;
  /** Headers of each request; default: the contender's. */
  headersOf?: () => Record<string, string>;
}

const BODY = {
  model: "bench",
  messages: [{ role: "user", content: "Count to sixty-four, one token at a time, please." }],
};

const TURN = 'The quick brown fox jumps over the lazy dog, and says "hello" to it.\n'.repeat(28);

/** Turns of some 2 KB before the question, as agents send them. */
function conversation(bytes: number): object[] {
  const turns = Array.from({ length: Math.floor(bytes / TURN.length) }, (_, turn) => ({
    role: turn % 2 === 0 ? "user" : "assistant",
    content: TURN,
  }));
  return [...turns, ...BODY.messages];
}

/** Throws when a response is incomplete. */
export async function measure(
  contender: Contender,
  { stream, connections, seconds, bodyBytes = 0, headersOf }: Load,
): Promise<Measured> {
  const pool = new Pool(contender.origin, { connections, headersTimeout: 0, bodyTimeout: 0 });
  const body = JSON.stringify({ ...BODY, stream, messages: conversation(bodyBytes) });
  const ask = () => once(pool, body, headersOf?.() ?? contender.headers, stream);
  const took: number[] = [];
  const cpuBefore = cpuSecondsOfAll(contender.pid);
  const beganAt = performance.now();
  const until = beganAt + seconds * 1000;
  const client = async () => {
    while (performance.now() < until) {
      const askedAt = performance.now();
      await ask();
      took.push(performance.now() - askedAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  const elapsed = (performance.now() - beganAt) / 1000;
  await pool.destroy();
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(share * took.length))] ?? Number.NaN;
  const cpuMicroseconds = ((cpuSecondsOfAll(contender.pid) - cpuBefore) * 1e6) / took.length;
  const [requests, perSecond] = [took.length, took.length / elapsed];
  return { requests, cpuMicroseconds, perSecond, p50Milliseconds: at(0.5), p99Milliseconds: at(0.99) };
}

const TICKS_PER_SECOND = 100;

/** User and system time of a process and the workers that it forked. */
function cpuSecondsOfAll(pid: number | undefined): number {
  // A child may have ended since it was listed.
  const children = childrenOf(pid).filter((child) => existsSync(`/proc/${child}/stat`));
  return [pid, ...children].reduce((sum: number, each) => sum + cpuSecondsOf(each), 0);
}

export function childrenOf(pid: number | undefined): number[] {
  const children = execFileSync("sh", ["-c", `cat /proc/${pid}/task/*/children`]).toString();
  return children.split(/\s+/).filter(Boolean).map(Number);
}

/** User and system time of a process. */
export function cpuSecondsOf(pid: number | undefined): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number) as [number, number];
  return (user + system) / TICKS_PER_SECOND;
}

const DONE = Buffer.from("data: [DONE]");

function once(pool: Pool, body: string, headers: Record<string, string>, stream: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let last: Buffer = Buffer.alloc(0);
    let status = 0;
    pool.dispatch(
      {
        method: "POST",
        path: "/v1/chat/completions",
        headers: { "content-type": "application/json", ...headers },
        body,
      },
      {
        onRequestStart() {},
        onResponseStart(_controller, code) {
          status = code;
        },
        onResponseData(_controller, chunk) {
          last = chunk;
        },
        onResponseEnd() {
          if (status === 200 && (!stream || last.includes(DONE))) resolve();
          else reject(new Error(`status ${status}: ${last.toString().slice(-200)}`));
        },
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}
