/** Multipart bodies: those that clients send, and those that no client should. */

import { toFile } from "openai";
import { expect, test } from "vitest";
import { form, part, refusal, useUploadService, WAVE } from "../support/service/upload-service.ts";

const { running, post, postRaw, nothingStays } = useUploadService();

test("transcribes every format of one recording", async () => {
  const { transcriptions } = running().client().audio;
  const ask = async (response_format: "json" | "text" | "srt" | "vtt") =>
    transcriptions.create({ model: "scripted", response_format, file: await toFile(WAVE, "a.wav") });
  expect(await ask("json")).toEqual({ text: "One two. Three.", usage: { type: "duration", seconds: 2 } });
  expect(await ask("text")).toBe("One two. Three.\n");
  expect(await ask("srt")).toBe(
    "1\n00:00:00,000 --> 00:00:01,000\nOne two.\n\n2\n00:00:01,000 --> 00:00:02,000\nThree.\n\n",
  );
  expect(await ask("vtt")).toBe(
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nOne two.\n\n00:00:01.000 --> 00:00:02.000\nThree.\n\n",
  );
  const verbose = await transcriptions.create({
    model: "scripted",
    file: await toFile(WAVE, "a.wav"),
    response_format: "verbose_json",
    timestamp_granularities: ["word"],
    language: "de",
    prompt: "x",
    temperature: 0.5,
  });
  expect(verbose).toEqual({
    task: "transcribe",
    language: "german",
    duration: 2,
    text: "One two. Three.",
    words: [
      { word: "One", start: 0, end: 0.5 },
      { word: "two.", start: 0.5, end: 1 },
      { word: "Three.", start: 1, end: 2 },
    ],
    usage: { type: "duration", seconds: 2 },
    x_unknown: ["tokens", "avg_logprob", "no_speech_prob"],
  });
  const translated = await running()
    .client()
    .audio.translations.create({
      model: "scripted",
      file: await toFile(WAVE, "a.wav"),
      response_format: "verbose_json",
    });
  expect(translated).toMatchObject({ task: "translate", duration: 2 });
  await nothingStays();
});

test("accepts a field after the file, and ignores a path in the file name", async () => {
  const body = new FormData();
  body.append("file", new Blob([new Uint8Array(WAVE)]), "../../../etc/passwd");
  body.append("model", "scripted");
  expect((await post(body)).status).toBe(200);
  await nothingStays();
});

test.each([
  ["without headers", "--B\r\n\r\n\r\n"],
  ["of nothing", "--B\r\n"],
  ["without a name", "--B\r\ncontent-type: text/plain\r\n\r\nx\r\n"],
])("counts parts %s, and rejects more than 102 without parsing them", async (_what, each) => {
  const answer = await postRaw(`${each.repeat(2000)}--B--\r\n`);
  expect(await refusal(answer)).toMatchObject({ status: 400, message: expect.stringContaining("At most 100 fields") });
  await nothingStays();
});

test("rejects a missing file, a file in another field, text as the file and two files", async () => {
  const none = new FormData();
  none.append("model", "scripted");
  expect(await refusal(await post(none))).toMatchObject({
    status: 400,
    param: "file",
    code: "missing_required_parameter",
  });
  none.append("file", "text");
  expect(await refusal(await post(none))).toMatchObject({ status: 400, param: "file", code: "invalid_type" });
  const other = new FormData();
  other.append("audio", new Blob([new Uint8Array(WAVE)]), "a.wav");
  expect(await refusal(await post(other))).toMatchObject({ status: 400, param: "audio" });
  const two = form();
  two.append("file", new Blob([new Uint8Array(WAVE)]), "b.wav");
  expect(await refusal(await post(two))).toMatchObject({ status: 400, param: "file" });
  expect(await refusal(await post(form({}, new Uint8Array(0))))).toMatchObject({ status: 400, param: "file" });
  await nothingStays();
});

test.each(["form-data", 'form-data; filename="a.wav"', 'form-data; n\u00e4me="model"'])(
  "rejects a part without a name: %s",
  async (disposition) => {
    const body = `--B\r\ncontent-disposition: ${disposition}\r\n\r\nscripted\r\n--B--\r\n`;
    const refused = await refusal(await postRaw(body));
    expect(refused).toMatchObject({ status: 400, message: expect.stringMatching(/needs a name|'model'/) });
  },
);

test("rejects a missing model, an unknown one and one of another task", async () => {
  const body = new FormData();
  body.append("file", new Blob([new Uint8Array(WAVE)]), "a.wav");
  expect(await refusal(await post(body))).toMatchObject({
    status: 400,
    param: "model",
    code: "missing_required_parameter",
  });
  expect(await refusal(await post(form({ model: "nobody" })))).toMatchObject({ status: 404, code: "model_not_found" });
  await nothingStays();
});

test.each([
  ["JSON instead of a form", '{"model":"scripted"}', "application/json", 415],
  ["no boundary", part("model", "scripted"), "multipart/form-data", 400],
  ["another boundary", `${part("model", "scripted")}--B--\r\n`, "multipart/form-data; boundary=C", 400],
  ["a body that breaks off", part("model", "scripted"), "multipart/form-data; boundary=B", 400],
  ["a file that breaks off", part("file", "RIFF", "a.wav"), "multipart/form-data; boundary=B", 400],
  ["no body", "", "multipart/form-data; boundary=B", 400],
  ["a field of 100 kB", `${part("prompt", "x".repeat(100_000))}--B--\r\n`, "multipart/form-data; boundary=B", 400],
  ["1,000 fields", `${part("a", "b").repeat(1000)}--B--\r\n`, "multipart/form-data; boundary=B", 400],
  [
    "fields named as parts of an object",
    `${part("__proto__[model]", "x")}--B--\r\n`,
    "multipart/form-data; boundary=B",
    400,
  ],
])("rejects %s", async (_name, body, contentType, status) => {
  const response = await postRaw(body, contentType);
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
  await nothingStays();
});
