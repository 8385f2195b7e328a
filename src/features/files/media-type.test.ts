import { expect, test } from "vitest";
import { mediaTypeOf } from "./media-type.ts";

const SVG = '<svg    WEBP="" xmlns="http://www.w3.org/2000/svg"/>';

test.each([
  ["\x89PNG\r\n\x1a\n....", "a.txt", "image/png"],
  ["RIFF....WEBPVP8 ", "a", "image/webp"],
  ["RIFF....WAVEfmt ", "a", "audio/wav"],
  ["....ftypisom", "a", "video/mp4"],
  [SVG, "a.svg", "image/svg+xml"],
  [SVG, "a", "application/octet-stream"],
  ["words", "a.MD", "text/markdown"],
])("knows %j named %s as %s", (bytes, filename, mediaType) => {
  expect(mediaTypeOf(Buffer.from(bytes, "latin1"), filename)).toBe(mediaType);
});
