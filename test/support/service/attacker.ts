/** A thread that sends one request again and again, so that what it spends does not slow the thread that measures. */

import { workerData } from "node:worker_threads";

export interface Attack {
  url: string;
  headers: Record<string, string>;
  body: Uint8Array;
  /** Requests at one time. */
  parallel: number;
}

const { url, headers, body, parallel } = workerData as Attack;
const send = async () => {
  for (;;) {
    const response = await fetch(url, { method: "POST", headers, body: new Blob([new Uint8Array(body)]) }).catch(
      () => undefined,
    );
    await response?.arrayBuffer().catch(() => {});
  }
};
for (let index = 0; index < parallel; index += 1) void send();
