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
  await recorder.send("invalid batch", "POST /v1/batches", { key, body: {} });
  await recorder.send("unknown batch", "GET /v1/batches/batch_none", { key });
};
