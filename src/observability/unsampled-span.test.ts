import { expect, test } from "vitest";
import { isSampled, UnsampledSpan } from "./unsampled-span.ts";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";

test("reads the caller's decision, and ignores what is not W3C Trace Context", () => {
  expect(isSampled(`00-${TRACE_ID}-b7ad6b7169203331-01`)).toBe(true);
  expect(isSampled(`00-${TRACE_ID}-b7ad6b7169203331-00`)).toBe(false);
  expect(isSampled("00-abc")).toBeUndefined();
  expect(isSampled("")).toBeUndefined();
});

test("passes the caller's headers on unchanged, or a decision of its own", () => {
  const traceparent = `00-${TRACE_ID}-b7ad6b7169203331-00`;
  const passed = new UnsampledSpan({ traceparent, tracestate: "vendor=1" });
  expect(passed.start().headers()).toEqual({ traceparent, tracestate: "vendor=1" });
  expect(passed.traceId).toBe(TRACE_ID);

  const own = new UnsampledSpan({});
  expect(own.traceId).toBeUndefined();
  expect(isSampled(own.headers().traceparent ?? "")).toBe(false);
  expect(own.start().headers()).toEqual(own.headers());
});
