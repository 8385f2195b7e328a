import { expect, test } from "vitest";
import { parseEvents } from "../../../kernel/server-sent-events.ts";
import { SpeechBody, toSpeechEvents, toSpeechRequest } from "./speech.ts";

const body = { model: "m", input: "Hi.", voice: "v" };
const parse = (fields: object) => toSpeechRequest(SpeechBody.parse({ ...body, ...fields }));

test("takes word times with events only", () => {
  const timestamp_granularities = ["word"];
  expect(parse({ stream_format: "sse", timestamp_granularities })).toMatchObject({ wordTimes: true });
  for (const fields of [
    {},
    { stream_format: "sse" },
    { timestamp_granularities: [] },
    { timestamp_granularities: null },
  ]) {
    expect(parse(fields)).not.toHaveProperty("wordTimes");
  }
  for (const stream_format of ["audio", undefined]) {
    const parsed = () => parse({ stream_format, timestamp_granularities });
    expect(parsed).toThrow(expect.objectContaining({ param: "timestamp_granularities" }));
    expect(parsed).toThrow(/Set 'stream_format' to "sse"/);
  }
  expect(() => parse({ stream_format: "sse", timestamp_granularities: ["segment"] })).toThrow();
});

test("sends words before the audio that they begin in, rounded down", async () => {
  const batches = [[], [{ word: "Hi,", startSeconds: 0.1239, endSeconds: 0.3999 }], []];
  const audio = (async function* () {
    for (const byte of [1, 2, 3]) yield Uint8Array.of(byte);
  })();
  const used = { characters: 3, audioSeconds: 0.4 };
  const frames = await Array.fromAsync(toSpeechEvents(audio, used, () => batches.shift() ?? []));
  const events = parseEvents(frames.join("")).map(({ data }) => JSON.parse(data));
  expect(events.map(({ type }) => type)).toEqual([
    "speech.audio.delta",
    "speech.audio.words",
    "speech.audio.delta",
    "speech.audio.delta",
    "speech.audio.done",
  ]);
  expect(events[1].words).toEqual([{ word: "Hi,", start: 0.123, end: 0.399 }]);
});
