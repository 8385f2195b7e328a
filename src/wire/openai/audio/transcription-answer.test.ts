import { expect, test } from "vitest";
import type { TranscriptionEvent } from "../../../contracts/transcription-model.ts";
import { parseEvents } from "../../../kernel/server-sent-events.ts";
import { toTranscript, toTranscriptEvents } from "./transcription-answer.ts";
import { toTranscription } from "./transcription-body.ts";

async function* segments(texts: readonly string[]): AsyncGenerator<TranscriptionEvent> {
  for (const [index, text] of texts.entries()) {
    yield {
      type: "segment",
      startSeconds: index,
      endSeconds: index + 1,
      text,
      words: undefined,
      confidence: undefined,
    };
  }
  yield { type: "finish", audioSeconds: texts.length, language: undefined };
}

test.each([
  ["One.", "Two.", "One. Two."],
  ["你好。", "再见。", "你好。再见。"],
  ["今日は", "元気ですか？", "今日は元気ですか？"],
  ["真的吗？", "是", "真的吗？是"],
  ["你好 OK", "再见", "你好 OK 再见"],
  ["안녕", "하세요", "안녕 하세요"],
])("joins %j and %j as their script requires, also in a stream", async (first, second, joined) => {
  const asked = toTranscription(
    [
      ["model", "any"],
      ["response_format", "text"],
    ],
    "ignore",
  );
  expect(await toTranscript(segments([first, second]), asked)).toBe(`${joined}\n`);
  const frames = await Array.fromAsync(toTranscriptEvents(segments([first, second])));
  const events = parseEvents(frames.join("")).map(({ data }) => JSON.parse(data));
  expect(events.map(({ delta = "" }) => delta).join("")).toBe(joined);
  expect(events.at(-1)).toMatchObject({ type: "transcript.text.done", text: joined });
});

async function* dialogue(): AsyncGenerator<TranscriptionEvent> {
  const words = [
    { word: "Hello", startSeconds: 0.1, endSeconds: 0.4 },
    { word: "Ada.", startSeconds: 0.5, endSeconds: 0.9 },
  ];
  const times = { startSeconds: 0, endSeconds: 1 };
  yield { type: "segment", ...times, text: "Hello Ada.", speaker: "B", words, confidence: undefined };
  yield { type: "finish", audioSeconds: 1, language: "en" };
}

test("adds the times of words to segments with speakers, complete and in a stream", async () => {
  const fields = [
    ["model", "any"],
    ["response_format", "diarized_json"],
    ["timestamp_granularities[]", "word"],
  ] as const;
  const parsed = toTranscription(fields, "ignore");
  const words = [
    { word: "Hello", start: 0.1, end: 0.4 },
    { word: "Ada.", start: 0.5, end: 0.9 },
  ];
  const { segments: whole } = JSON.parse(await toTranscript(dialogue(), parsed));
  expect(whole).toEqual([expect.objectContaining({ speaker: "B", text: "Hello Ada.", words })]);
  const frames = await Array.fromAsync(toTranscriptEvents(dialogue(), parsed.lists.words));
  const events = parseEvents(frames.join("")).map(({ data }) => JSON.parse(data));
  expect(events.filter(({ type }) => type === "transcript.text.segment")).toEqual([
    expect.objectContaining({ speaker: "B", words }),
  ]);
});
