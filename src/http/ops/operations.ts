/** What the operator's own tools ask, without a key: is it alive, is it ready, what does it count. */

import type { FastifyPluginAsync } from "fastify";

export interface Operations {
  readiness: () => Promise<Readiness>;
  metrics: () => Promise<{ contentType: string; text: string }>;
}

export interface Readiness {
  isReady: boolean;
  version: string;
  database: { state: "up" | "down"; reason?: string | undefined };
  models: readonly ModelReadiness[];
}

interface ModelReadiness {
  id: string;
  task: string;
  deployment: string;
  engine: string;
  state: "loading" | "up" | "restarting" | "failed";
  device?: string | undefined;
  /** Open: left alone for a while since it failed; half-open: one request probes it. */
  circuit: "closed" | "open" | "half-open";
  /** What it waits for, or why it failed. */
  reason?: string | undefined;
}

/** GET /health/live, /health/ready, /metrics */
export function operations({ readiness, metrics }: Operations): FastifyPluginAsync {
  return async (app) => {
    app.get("/health/live", async () => ({ status: "live" }));

    app.get("/health/ready", async (_request, reply) => {
      const { isReady, ...rest } = await readiness();
      return reply.code(isReady ? 200 : 503).send({ status: isReady ? "ready" : "not_ready", ...rest });
    });

    app.get("/metrics", async (_request, reply) => {
      const { contentType, text } = await metrics();
      return reply.type(contentType).send(text);
    });
  };
}
