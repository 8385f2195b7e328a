/** Many streams with one event every 20 ms: measures the delay of each event. */

import { Pool } from "undici";
import type { Contender } from "./contenders.ts";
import { PACED_EVENTS } from "./shape.ts";

const SENT_AT = /"content":"at (\d+\.\d+)"/g;

export interface Paced {
  arrived: number;
  expected: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  lastMs: number;
}

export async function measurePaced(contender: Contender, streams: number): Promise<Paced> {
  const pool = new Pool(contender.origin, { connections: streams, headersTimeout: 0, bodyTimeout: 0 });
  const body = JSON.stringify({
    model: "bench",
    stream: true,
    user: "paced",
    messages: [{ role: "user", content: "Go." }],
  });
  const late: number[] = [];
  const read = (): Promise<void> =>
    new Promise((resolve, reject) => {
      pool.dispatch(
        {
          method: "POST",
          path: "/v1/chat/completions",
          headers: { "content-type": "application/json", ...contender.headers },
          body,
        },
        {
          onRequestStart() {},
          onResponseStart() {},
          onResponseData(_controller, chunk) {
            const now = performance.timeOrigin + performance.now();
            // Events are small and rarely split across chunks; a split event is not counted.
            for (const [, sentAt] of chunk.toString("latin1").matchAll(SENT_AT)) late.push(now - Number(sentAt));
          },
          onResponseEnd: () => resolve(),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  await Promise.all(Array.from({ length: streams }, read));
  await pool.destroy();
  late.sort((a, b) => a - b);
  const at = (share: number) => late[Math.min(late.length - 1, Math.floor(share * late.length))] ?? Number.NaN;
  return {
    arrived: late.length,
    expected: streams * PACED_EVENTS,
    p50Milliseconds: at(0.5),
    p99Milliseconds: at(0.99),
    lastMs: at(1),
  };
}
