import { describe, expect, test } from "vitest";
import { EventTooLongError } from "../../../kernel/server-sent-events.ts";
import { SseFrames } from "./sse-frames.ts";

const bytes = (text: string) => Buffer.from(text);

function cut(text: string, pieceLength: number): string {
  const frames = new SseFrames(1024);
  const all = bytes(text);
  let out = "";
  for (let at = 0; at < all.length; at += pieceLength) {
    const complete = frames.push(all.subarray(at, at + pieceLength));
    if (complete !== "") expect(complete.endsWith("\n\n")).toBe(true);
    out += complete;
  }
  return Buffer.from(out, "latin1").toString();
}

const STREAMS: [name: string, sent: string, frames: string][] = [
  ["line feeds", "data: a\n\ndata: b\n\n", "data: a\n\ndata: b\n\n"],
  ["carriage returns and line feeds", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\n\ndata: b\n\n"],
  ["carriage returns", "data: a\r\rdata: b\r\r", "data: a\n\ndata: b\n\n"],
  ["several lines of data and comments", ": ping\n\ndata: a\ndata: b\n\n", ": ping\n\ndata: a\ndata: b\n\n"],
  ["a byte order mark", "\uFEFFdata: a\n\n", "data: a\n\n"],
  ["characters of several bytes", "data: très 🐉\n\n", "data: très 🐉\n\n"],
  ["a frame whose end does not come", "data: a\n\ndata: b\n", "data: a\n\n"],
];

describe.each(STREAMS)("%s", (_name, sent, expected) => {
  test.each([1, 2, 3, 5, 1000])("in pieces of %i bytes", (pieceLength) => {
    expect(cut(sent, pieceLength)).toBe(expected);
  });
});

test("limits a frame's length, not the stream's", () => {
  const frames = new SseFrames(100);
  for (let round = 0; round < 100; round += 1) frames.push(bytes(`data: ${"x".repeat(50)}\n\n`));
  frames.push(bytes("data: "));
  expect(() => frames.push(bytes("x".repeat(100)))).toThrow(EventTooLongError);
});

test("accepts a frame of one megabyte in small pieces", () => {
  const frames = new SseFrames(2_000_000);
  const sent = bytes(`data: ${"x".repeat(1_000_000)}\n\n`);
  let out = "";
  for (let at = 0; at < sent.length; at += 100) out += frames.push(sent.subarray(at, at + 100));
  expect(out).toBe(sent.toString());
});
