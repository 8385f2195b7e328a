import { queryOptions } from "@tanstack/react-query";
import { request } from "../../api/request.ts";

export interface Deployment {
  model: string;
  task: string;
  deployment: string;
  engine: string;
  state: string;
  reason: string | null;
  circuit: string;
  device: string | null;
  memory_bytes: number | null;
  load_seconds: number | null;
  slots: number | null;
  slots_in_use: number;
  waiting: number;
  first_token_seconds: number | null;
}

/** Endpoints from the DNS or a file, for which one entry of parlance.yaml stands. */
export interface Pool {
  model: string;
  deployment: string;
  source: string;
  endpoints: number;
  state: "up" | "stale" | "empty";
  reason: string | null;
}

export interface SpendLimit {
  scope: "organization" | "project" | "api_key";
  scope_id: string;
  threshold_usd: number;
  /** Null where the key may not see it. */
  month_usd: number | null;
  enforced: boolean;
}

export interface Overview {
  minutes: { start_time: number; requests: number; errors: number; input_tokens: number; output_tokens: number }[];
  first_token_ms: { p50: number | null; p95: number | null };
  spend: {
    today_usd: number;
    month_usd: number;
    limits: SpendLimit[];
  };
  deployments: Deployment[] | null;
  pools: Pool[] | null;
}

export const overviewQuery = queryOptions({
  queryKey: ["overview"],
  queryFn: ({ signal }) => request<Overview>("v1/organization/overview", { signal }),
  refetchInterval: 3000,
});
