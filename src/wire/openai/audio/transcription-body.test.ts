import { expect, test } from "vitest";
import { toTranscription } from "./transcription-body.ts";

test.each(["warm", "0,5"])("rejects the temperature '%s', which is not a number", (temperature) => {
  const fields = [
    ["model", "t"],
    ["temperature", temperature],
  ] as const;
  expect(() => toTranscription(fields, "ignore")).toThrow(
    expect.objectContaining({
      message: "Wrong type for 'temperature': it must be a number, not a text.",
      param: "temperature",
      code: "invalid_type",
    }),
  );
});

test.each([
  [
    [
      ["chunking_strategy[type]", "server_vad"],
      ["chunking_strategy[threshold]", "0.3"],
    ],
    "chunking_strategy.threshold",
  ],
  [[["chunking_strategy", '{"type":"server_vad","silence_duration_ms":9}']], "chunking_strategy.silence_duration_ms"],
  [[["languages", "en"]], "languages"],
] as const)("rejects and names what no model supports: %j", (fields, param) => {
  expect(() => toTranscription([["model", "t"], ...fields], "ignore")).toThrow(
    expect.objectContaining({ param, code: "unsupported_value" }),
  );
});

test.each([
  [
    [
      ["keywords[]", "Parlance"],
      ["keywords[]", " vLLM "],
    ],
    "Parlance, vLLM.",
  ],
  [
    [
      ["keywords", "Parlance"],
      ["prompt", "A talk about servers."],
    ],
    "Parlance. A talk about servers.",
  ],
  [[["keywords[]", " "]], undefined],
  [[["prompt", "A talk."]], "A talk."],
] as const)("makes keywords a part of the prompt: %j", (fields, prompt) => {
  expect(toTranscription([["model", "t"], ...fields], "ignore").request.prompt).toBe(prompt);
});

test.each(["auto", '{"type":"server_vad"}'])("accepts chunking_strategy %s", (value) => {
  expect(
    toTranscription(
      [
        ["model", "t"],
        ["chunking_strategy", value],
      ],
      "ignore",
    ),
  ).toMatchObject({ model: "t" });
});
