/** Probes whether a failed upstream answers again, without running inference. */

import type { Connections } from "./connection/connections.ts";
import { Exchange } from "./connection/exchange.ts";
import { readText } from "./connection/read-body.ts";
import { withScopedSignal } from "./connection/scoped-signal.ts";
import type { UpstreamSettings } from "./connection-settings.ts";
import { requestTemplate } from "./upstream-request.ts";

const PATIENCE_SECONDS = 10;
const MAX_BYTES = 8 * 1024 * 1024;

/**
 * Requests GET /models. JSON with status 200: true; a 5xx or no answer: false; anything else: undefined, because some
 * upstreams lack this path and some keys may not use it.
 */
export function probeUpstream(
  connections: Connections,
  settings: UpstreamSettings,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  return withScopedSignal(signal, (own) => probe(connections, settings, own));
}

async function probe(
  connections: Connections,
  settings: UpstreamSettings,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const request = { ...requestTemplate(settings, "models"), method: "GET" as const };
  const patience = Math.min(PATIENCE_SECONDS, settings.firstByteTimeoutSeconds);
  const limits = { firstByteTimeoutSeconds: patience, idleTimeoutSeconds: patience, maxResponseBytes: MAX_BYTES };
  const exchange = new Exchange(connections, request, limits, signal);
  try {
    const head = await exchange.head();
    if (head === undefined || head.status >= 500) return false;
    // Reads to the end to reuse the connection.
    await readText(exchange);
    const isJson = String(head.headers["content-type"] ?? "").includes("json");
    return head.status === 200 && isJson ? true : undefined;
  } catch {
    return false;
  } finally {
    exchange.release();
  }
}
