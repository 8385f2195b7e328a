import { describe, expect, test } from "vitest";
import { EventReader, EventTooLongError, parseEvents } from "./server-sent-events.ts";

const STREAM = '\uFEFF: ping\r\n\r\nevent: a\ndata: {"text":"très 🐉"}\n\ndata: b\rdata: c\r\rdata: incomplete\n';

describe.each([1, 2, 3, 5, 1000])("in pieces of %i bytes", (pieceLength) => {
  test("reads events with every line end, and leaves an incomplete one", () => {
    const reader = new EventReader();
    const bytes = Buffer.from(STREAM);
    const events = [];
    for (let at = 0; at < bytes.length; at += pieceLength) {
      events.push(...(reader.read(bytes.subarray(at, at + pieceLength)) ?? []));
    }
    expect(events).toMatchObject([{ event: "a", data: '{"text":"très 🐉"}' }, { data: "b\nc" }]);
    expect(parseEvents(STREAM.slice(1)).map(({ data }) => data)).toEqual(events.map(({ data }) => data));
  });
});

test("tells a comment from a part of an event", () => {
  const reader = new EventReader();
  expect(reader.read(Buffer.from(": ping\n\n"))).toEqual([]);
  expect(reader.read(Buffer.from("data: par"))).toBeUndefined();
  expect(reader.read(Buffer.from("t\n\n"))).toMatchObject([{ data: "part" }]);
});

test("limits an event's length, not the stream's", () => {
  const reader = new EventReader(100);
  for (let round = 0; round < 100; round += 1) reader.read(Buffer.from(`data: ${"x".repeat(50)}\n\n`));
  reader.read(Buffer.from("data: "));
  expect(() => reader.read(Buffer.from("x".repeat(100)))).toThrow(EventTooLongError);
});
