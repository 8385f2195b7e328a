/** A receiver of traces over OTLP (HTTP, protobuf): the fields of opentelemetry/proto/trace/v1/trace.proto that tests need. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { PbfReader } from "pbf";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  name: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  attributes: Record<string, string | number | boolean>;
  /** 2: error. */
  status: number;
}

export interface OtlpReceiver extends AsyncDisposable {
  url: string;
  spans: ReceivedSpan[];
  /** Attributes of the resource that sent last. */
  resource: Record<string, string | number | boolean>;
  /** Everything received, to search for what must not be in it. */
  bytes(): Buffer;
  headers: Record<string, unknown>[];
}

type Attributes = ReceivedSpan["attributes"];

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

function readAttribute(pbf: PbfReader, attributes: Attributes): void {
  const pair = pbf.readMessage<{ key: string; value: Attributes[string] }>(
    (tag, result, inner) => {
      if (tag === 1) result.key = inner.readString();
      if (tag === 2)
        result.value = inner.readMessage<[Attributes[string]]>(
          (kind, value, each) => {
            if (kind === 1) value[0] = each.readString();
            if (kind === 2) value[0] = each.readBoolean();
            if (kind === 3) value[0] = each.readVarint(true);
            if (kind === 4) value[0] = each.readDouble();
          },
          [""],
        )[0];
    },
    { key: "", value: "" },
  );
  attributes[pair.key] = pair.value;
}

function readSpan(pbf: PbfReader): ReceivedSpan {
  return pbf.readMessage<ReceivedSpan>(
    (tag, span, inner) => {
      if (tag === 1) span.traceId = hex(inner.readBytes());
      if (tag === 2) span.spanId = hex(inner.readBytes());
      if (tag === 4) span.parentSpanId = hex(inner.readBytes());
      if (tag === 5) span.name = inner.readString();
      if (tag === 6) span.kind = inner.readVarint();
      if (tag === 9) readAttribute(inner, span.attributes);
      if (tag === 15)
        span.status = inner.readMessage<[number]>(
          (each, code, status) => {
            if (each === 3) code[0] = status.readVarint();
          },
          [0],
        )[0];
    },
    { traceId: "", spanId: "", parentSpanId: "", name: "", kind: 0, attributes: {}, status: 0 },
  );
}

/** ExportTraceServiceRequest: resource spans, scope spans, spans. */
function readRequest(body: Uint8Array, spans: ReceivedSpan[], resource: Attributes): void {
  new PbfReader(body).readFields((tag, _result, request) => {
    if (tag !== 1) return;
    request.readMessage((part, _resourceSpans, resourceSpans) => {
      if (part === 1)
        resourceSpans.readMessage((each, _resource, inner) => {
          if (each === 1) readAttribute(inner, resource);
        }, null);
      if (part === 2)
        resourceSpans.readMessage((each, _scopeSpans, scopeSpans) => {
          if (each === 2) spans.push(readSpan(scopeSpans));
        }, null);
    }, null);
  }, null);
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const bodies: Buffer[] = [];
  const spans: ReceivedSpan[] = [];
  const headers: Record<string, unknown>[] = [];
  const resource: Attributes = {};
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    bodies.push(body);
    headers.push({ ...request.headers, path: request.url });
    readRequest(body, spans, resource);
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resource,
    headers,
    bytes: () => Buffer.concat(bodies),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
