/** A receiver of OTLP (HTTP, protobuf), which reads the fields that tests need. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { PbfReader } from "pbf";
import { type OtlpAttributes, readAttribute } from "./otlp-attributes.ts";
import { type ReceivedLog, readLog } from "./otlp-logs.ts";
import { type ReceivedMetric, readMetric } from "./otlp-metrics.ts";
import { type ReceivedSpan, readSpan } from "./otlp-spans.ts";

export interface OtlpReceiver extends AsyncDisposable {
  url: string;
  spans: ReceivedSpan[];
  logs: ReceivedLog[];
  /** Metrics of all exports; the last ones have the latest values. */
  metrics: ReceivedMetric[];
  /** Attributes of the resource that sent last. */
  resource: OtlpAttributes;
  /** Everything received, to search for what must not be in it. */
  bytes(): Buffer;
  headers: Record<string, unknown>[];
}

/** Requests of all signals have the same shape: resources, scopes, items. */
function readRequest(body: Uint8Array, resource: OtlpAttributes, readItem: (pbf: PbfReader) => void): void {
  new PbfReader(body).readFields((tag, _result, request) => {
    if (tag !== 1) return;
    request.readMessage((part, _resourceItems, resourceItems) => {
      if (part === 1)
        resourceItems.readMessage((each, _resource, inner) => {
          if (each === 1) readAttribute(inner, resource);
        }, null);
      if (part === 2)
        resourceItems.readMessage((each, _scopeItems, scopeItems) => {
          if (each === 2) readItem(scopeItems);
        }, null);
    }, null);
  }, null);
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: Buffer[] = [];
  const received = { spans: [], logs: [], metrics: [], resource: {}, headers: [] } as Omit<
    OtlpReceiver,
    "url" | "bytes" | typeof Symbol.asyncDispose
  >;
  const readers: Record<string, (pbf: PbfReader) => void> = {
    "/v1/traces": (pbf) => received.spans.push(readSpan(pbf)),
    "/v1/logs": (pbf) => received.logs.push(readLog(pbf)),
    "/v1/metrics": (pbf) => received.metrics.push(readMetric(pbf)),
  };
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const read = readers[request.url ?? ""];
    bodies.push(body);
    received.headers.push({ ...request.headers, path: request.url });
    if (read !== undefined) readRequest(body, received.resource, read);
    response.writeHead(read === undefined ? 404 : 200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    ...received,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bytes: () => Buffer.concat(bodies),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
