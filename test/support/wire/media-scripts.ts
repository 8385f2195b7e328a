import { makeWave } from "../service/wave.ts";
import type { WireScript } from "./wire-script.ts";

export const text: WireScript = async ({ recorder, key }) => {
  const post = (title: string, path: string, body: unknown) => recorder.send(title, `POST ${path}`, { key, body });
  await post("embeddings", "/v1/embeddings", { model: "minilm", input: ["one", "two"] });
  await post("embeddings: invalid", "/v1/embeddings", { model: "minilm", input: [] });
  await post("embeddings: ignored field", "/v1/embeddings", { model: "minilm", input: "one", unheard_of: 1 });
  for (const version of ["v1", "v2"]) {
    const body = { model: "minilm", query: "a cat", documents: ["a kitten"], unheard_of: 1 };
    await recorder.send(`rerank ${version}`, `POST /${version}/rerank`, { key, body, bodyAs: "(scores)" });
    await post(`rerank ${version}: invalid`, `/${version}/rerank`, { model: "minilm", query: "a" });
  }
  const question = {
    type: "choice",
    name: "pet",
    instructions: "Which?",
    choices: [{ value: "cat" }, { value: true }],
  };
  await post("decisions", "/v1/decisions", { model: "parrot", input: "A cat", questions: [question], unheard_of: 1 });
  await post("decisions: invalid", "/v1/decisions", { model: "parrot", input: "A cat", questions: [] });
  await post("moderation", "/v1/moderations", { model: "judge", input: ["a zebra", "a cat"] });
  await post("moderation: invalid", "/v1/moderations", { model: "judge" });
};

export const audio: WireScript = async ({ recorder, key }) => {
  const speak = (title: string, fields: object) =>
    recorder.send(title, "POST /v1/audio/speech", {
      key,
      body: { model: "speech", input: "One. Two.", voice: "low", ...fields },
    });
  for (const response_format of ["wav", "pcm"]) await speak(response_format, { response_format });
  await recorder.send("mp3", "POST /v1/audio/speech", {
    key,
    body: { model: "speech", input: "One.", voice: "low" },
    bodyAs: "(audio)",
  });
  await speak("streamed", { stream_format: "sse", response_format: "pcm", unheard_of: 1 });
  const words = { timestamp_granularities: ["word"] };
  await speak("word times", { stream_format: "sse", response_format: "pcm", ...words });
  await speak("word times without events", words);
  await speak("unknown voice", { voice: "none" });
  await speak("invalid field", { speed: 9 });
  await recorder.send("voices", "GET /v1/audio/voices", { key });
  await recorder.send("voices of a model", "GET /v1/audio/voices?model=speech", { key });
  await recorder.send("models", "GET /v1/audio/models", { key });
  const upload = (fields: Record<string, string>) => {
    const form = new FormData();
    form.append("file", new Blob([makeWave({ seconds: 0.2 })]), "name.wav");
    for (const [name, value] of Object.entries({ model: "listen", ...fields })) form.append(name, value);
    return form;
  };
  for (const response_format of ["json", "text", "srt", "vtt", "verbose_json"]) {
    const body = upload({ response_format });
    await recorder.send(response_format, "POST /v1/audio/transcriptions", { key, body });
  }
  await recorder.send("streamed", "POST /v1/audio/transcriptions", { key, body: upload({ stream: "true" }) });
  await recorder.send("translation", "POST /v1/audio/translations", { key, body: upload({}) });
  await recorder.send("invalid", "POST /v1/audio/translations", { key, body: upload({ temperature: "9" }) });
  await recorder.send("no form", "POST /v1/audio/transcriptions", { key, body: {} });
  await recorder.send("session of the beta", "POST /v1/realtime/sessions", { key, body: { modalities: ["text"] } });
  await recorder.send("invalid session of the beta", "POST /v1/realtime/sessions", { key, body: { speed: 9 } });
  await recorder.send("transcription session of the beta", "POST /v1/realtime/transcription_sessions", {
    key,
    body: {},
  });
  await recorder.send("client secret", "POST /v1/realtime/client_secrets", {
    key,
    body: { session: { type: "transcription", audio: { input: { transcription: { model: "listen" } } } } },
  });
  await recorder.send("no WebSocket", "GET /v1/realtime?model=parrot", { key });
};

export const images: WireScript = async ({ recorder, key }) => {
  const model = "paint";
  const size = "1x2";
  const send = (title: string, path: string, body: unknown) =>
    recorder.send(title, `POST /v1/images/${path}`, { key, body });
  const generate = (title: string, fields: object) =>
    send(title, "generations", { model, size, prompt: "a heron", ...fields });
  await generate("two", { n: 2, quality: "high", unheard_of: 1 });
  await generate("as an address", { response_format: "url" });
  await generate("streamed", { stream: true, partial_images: 1 });
  await generate("streamed: failure", { stream: true, prompt: "fails" });
  await generate("too large", { size: "99999x99999" });
  await generate("invalid field", { n: 0 });
  const upload = (fields: Record<string, string>, names: string[]) => {
    const form = new FormData();
    const png = Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64");
    for (const name of names) form.append(name, new Blob([png]), `${name}.png`);
    for (const [name, value] of Object.entries({ model, size, ...fields })) form.append(name, value);
    return form;
  };
  await send("edit", "edits", upload({ prompt: "add a moon" }, ["image[]", "image[]", "mask"]));
  await send("streamed edit", "edits", upload({ prompt: "add a moon", stream: "true" }, ["image"]));
  await send("edit: no image", "edits", upload({ prompt: "add a moon" }, ["mask"]));
  await send("variation", "variations", upload({}, ["image"]));
  await send("variation: two images", "variations", upload({}, ["image", "image"]));
};
