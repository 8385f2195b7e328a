import { eventually } from "../service/eventually.ts";
import { user } from "./chat-inputs.ts";
import type { WireScript } from "./wire-script.ts";

export const batches: WireScript = async ({ recorder, key }) => {
  const upload = (lines: string, purpose = "batch") => {
    const form = new FormData();
    form.append("purpose", purpose);
    form.append("file", new Blob([lines]), "input.jsonl");
    return form;
  };
  const line = (id: string, body: object, url = "/v1/chat/completions") =>
    `${JSON.stringify({ custom_id: id, method: "POST", url, body })}\n`;
  const input =
    line("a", { model: "parrot", messages: user("Hello you") }) + line("b", { model: "none", messages: user("x") });
  const { id } = await recorder.send("upload", "POST /v1/files", { key, body: upload(input) });
  await recorder.send("upload for another purpose", "POST /v1/files", { key, body: upload("x", "none") });
  await recorder.send("retrieve a file", `GET /v1/files/${id}`, { key });
  await recorder.send("list files", "GET /v1/files?purpose=batch", { key });
  await recorder.send("content", `GET /v1/files/${id}/content`, { key });
  const batch = await recorder.send("create", "POST /v1/batches", {
    key,
    body: { input_file_id: id, endpoint: "/v1/chat/completions", completion_window: "24h", metadata: { a: "b" } },
  });
  let ended: Record<string, string> = {};
  await eventually(async () => {
    const headers = { authorization: `Bearer ${key}` };
    ended = (await (await fetch(`${recorder.origin}/v1/batches/${batch.id}`, { headers })).json()) as typeof ended;
    if (ended.status !== "completed") throw new Error(`${ended.status}`);
  });
  await recorder.send("retrieve", `GET /v1/batches/${batch.id}`, { key });
  await recorder.send("list", "GET /v1/batches", { key });
  await recorder.send("cancel one that has ended", `POST /v1/batches/${batch.id}/cancel`, { key });
  for (const file of [ended.output_file_id, ended.error_file_id]) {
    await recorder.send("result", `GET /v1/files/${file}/content`, { key });
    await recorder.send("delete a result", `DELETE /v1/files/${file}`, { key });
  }
  await recorder.send("delete the input", `DELETE /v1/files/${id}`, { key });
  await recorder.send("retrieve a deleted file", `GET /v1/files/${id}`, { key });
  const headers = { "x-api-key": key, "anthropic-version": "2023-06-01" };
  const params = { model: "parrot", max_tokens: 20, messages: user("Hello you") };
  const requests = [
    { custom_id: "a", params },
    { custom_id: "b", params: { ...params, model: "none" } },
  ];
  const path = "/v1/messages/batches";
  const { id: messages } = await recorder.send("create messages", `POST ${path}`, { headers, body: { requests } });
  await eventually(async () => {
    const state = (await (await fetch(`${recorder.origin}${path}/${messages}`, { headers })).json()) as typeof ended;
    if (state.processing_status !== "ended") throw new Error(`${state.processing_status}`);
  });
  await recorder.send("retrieve messages", `GET ${path}/${messages}`, { headers });
  await recorder.send("list messages", `GET ${path}`, { headers });
  await recorder.send("results of messages", `GET ${path}/${messages}/results`, { headers });
  await recorder.send("cancel messages that have ended", `POST ${path}/${messages}/cancel`, { headers });
  await recorder.send("delete messages", `DELETE ${path}/${messages}`, { headers });
  await recorder.send("results of deleted messages", `GET ${path}/${messages}/results`, { headers });
  await recorder.send("no messages", `POST ${path}`, { headers, body: { requests: [] } });
  const note = upload("A note.");
  const file = await recorder.send("upload for messages", "POST /v1/files", { headers, body: note });
  await recorder.send("list files for messages", "GET /v1/files?limit=1", { headers });
  await recorder.send("retrieve a file for messages", `GET /v1/files/${file.id}`, { headers });
  await recorder.send("delete a file for messages", `DELETE /v1/files/${file.id}`, { headers });
  await recorder.send("invalid batch", "POST /v1/batches", { key, body: {} });
  await recorder.send("unknown batch", "GET /v1/batches/batch_none", { key });
};
