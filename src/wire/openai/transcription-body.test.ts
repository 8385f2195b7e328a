import { expect, test } from "vitest";
import { toTranscription } from "./transcription-body.ts";

test.each(["", "warm", "0,5"])("a temperature of '%s' is told to be no number", (temperature) => {
  const fields = [
    ["model", "t"],
    ["temperature", temperature],
  ] as const;
  expect(() => toTranscription(fields)).toThrow(
    expect.objectContaining({
      message: "Wrong type for 'temperature': it must be a number, not a text.",
      param: "temperature",
      code: "invalid_type",
    }),
  );
});
