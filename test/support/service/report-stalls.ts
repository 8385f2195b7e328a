/** Imported by services of tests: appends their stalls to a file of TEST_STALLS_FOLDER, from the first request on. */

import { subscribe } from "node:diagnostics_channel";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";
import type { FastifyInstance } from "fastify";
import { detectStalls } from "./stall-detector.ts";

const { TEST_STALLS_FOLDER: folder, STALL_LIMIT_MS } = process.env;
let isStarted = false;

if (folder !== undefined && isMainThread && process.argv[2] === "serve") {
  subscribe("fastify.initialization", (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook("onRequest", async ({ url }) => {
      // The harness asks for the health while the service starts and loads models.
      if (isStarted || url.startsWith("/health")) return;
      isStarted = true;
      detectStalls(Number(STALL_LIMIT_MS), (stall) =>
        appendFileSync(join(folder, `${process.pid}.jsonl`), `${JSON.stringify(stall)}\n`),
      );
    });
  });
}
