/** Health checks and metrics for load balancers and monitoring. */

import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, routes } from "../../http/operation.ts";
import { Live, Readiness as ReadinessAnswer } from "../../wire/openapi/service-answers.ts";

export interface Operations {
  readiness: () => Promise<Readiness>;
  metrics: () => Promise<{ contentType: string; text: string }>;
  /** IDs of models that callers cannot list. */
  hiddenModels: () => readonly string[];
}

export interface Readiness {
  isReady: boolean;
  version: string;
  database: { state: "up" | "down"; reason?: string | undefined };
  models: readonly ModelReadiness[];
  pools: readonly PoolReadiness[];
}

/** Endpoints that a deployment entry stands for; each one is in `models`, too. */
interface PoolReadiness {
  model: string;
  deployment: string;
  engine: string;
  /** Where the endpoints are looked up. */
  source: string;
  endpoints: number;
  /** stale: the last lookup failed and the endpoints found before are in use; empty: there is no endpoint. */
  state: "up" | "stale" | "empty";
  reason?: string | undefined;
}

interface ModelReadiness {
  id: string;
  task: string;
  deployment: string;
  engine: string;
  state: "loading" | "unloaded" | "up" | "restarting" | "failed";
  device?: string | undefined;
  /** Resident memory of a loaded local model. */
  memory_bytes?: number | undefined;
  /** Memory of the GPU that a loaded local model has taken. */
  vram_bytes?: number | undefined;
  /** Duration of the last load. */
  load_seconds?: number | undefined;
  /** Context window of a loaded chat model, and what determined it. */
  context_window?: number | undefined;
  context_window_reason?: "configured" | "trained" | "memory" | undefined;
  /** open: no requests until the cooldown ends; half-open: one request probes the deployment. */
  circuit: "closed" | "open" | "half-open";
  /** Reason that the deployment is not up: what it waits for, or why it failed. */
  reason?: string | undefined;
}

export interface OperationsAccess {
  /** Whether the request may see models, engines and the reasons for failures. */
  mayReadDetails: (request: FastifyRequest) => Promise<boolean>;
  /** Throws a Fault when the request must not read metrics. Resolves with whether its key proves an operator. */
  checkMetrics: (request: FastifyRequest) => Promise<boolean>;
}

/** GET /health, /health/live, /health/ready, /metrics */
export function operations(
  { readiness, metrics, hiddenModels }: Operations,
  access: OperationsAccess,
): FastifyPluginAsync {
  return routes(
    operation(
      "GET /health/live",
      {
        summary: "Returns 200 while the process is alive.",
        tag: "Service",
        permission: "public",
        answer: Live,
      },
      async () => ({ status: "live" as const }),
    ),
    // The short path is vLLM's and llama.cpp's, where clients of theirs look first.
    ...["/health", "/health/ready"].map((path) =>
      operation(
        `GET ${path}`,
        {
          summary:
            "Returns 200 once the database is available and no built-in model is loading, otherwise 503. With an admin key that has `organization.read`, lists the state and device of each deployment.",
          tag: "Service",
          permission: "optional-admin",
          answer: ReadinessAnswer,
          others: { 503: ReadinessAnswer },
        },
        async ({ request, reply }) => {
          const mayReadDetails = await access.mayReadDetails(request);
          const { isReady, ...details } = await readiness();
          const status = isReady ? "ready" : "not_ready";
          // The state is public. Details are private: reasons contain paths, and models may be hidden.
          const state = { status, database: { state: details.database.state } };
          return reply.code(isReady ? 200 : 503).send(mayReadDetails ? { status, ...details } : state);
        },
      ),
    ),
    operation(
      "GET /metrics",
      {
        summary: "Returns [metrics](metrics.md) in the Prometheus text format.",
        tag: "Service",
        permission: "metrics",
        content: ["text/plain"],
      },
      async ({ request, reply }) => {
        const isOperator = await access.checkMetrics(request);
        const hidden = isOperator ? [] : hiddenModels();
        const showsAll = hidden.length === 0 || (await access.mayReadDetails(request));
        const { contentType, text } = await metrics();
        return reply.type(contentType).send(showsAll ? text : withoutModels(text, hidden));
      },
    ),
  );
}

/** Removes the series of these models from metrics in Prometheus's format. */
function withoutModels(text: string, models: readonly string[]): string {
  const labels = models.map((id) => `model="${id.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`);
  const lines = text.split("\n");
  return lines.filter((line) => line.startsWith("#") || !labels.some((label) => line.includes(label))).join("\n");
}
