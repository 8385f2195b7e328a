/** Requests to vector stores and uploads, in recordable order. */

import { eventually } from "../service/eventually.ts";
import type { WireScript } from "./wire-script.ts";

export const vectorStores: WireScript = async ({ recorder, key }) => {
  const send = (title: string, route: string, body?: object) => recorder.send(title, route, { key, body });
  const data = new FormData();
  data.append("data", new Blob(["Otters swim in rivers."]), "part");
  const file = { filename: "otters.md", purpose: "assistants", bytes: 22, mime_type: "text/markdown" };
  const upload = await send("begin an upload", "POST /v1/uploads", file);
  const part = await send("add a part", `POST /v1/uploads/${upload.id}/parts`, data);
  await send("complete without the part", `POST /v1/uploads/${upload.id}/complete`, { part_ids: ["part_none"] });
  const completed = await recorder.send<{ file: { id: string } }>(
    "complete",
    `POST /v1/uploads/${upload.id}/complete`,
    { key, body: { part_ids: [part.id] } },
  );
  const other = await send("begin another upload", "POST /v1/uploads", file);
  await send("cancel it", `POST /v1/uploads/${other.id}/cancel`);
  const { id: file_id } = completed.file;
  const store = await send("create", "POST /v1/vector_stores", { name: "Animals", metadata: { a: "b" } });
  const path = `/v1/vector_stores/${store.id}`;
  await send("add a file", `POST ${path}/files`, { file_id, attributes: { kind: "river" } });
  const untilCompleted = async () => {
    const headers = { authorization: `Bearer ${key}` };
    const read = async () =>
      (await (await fetch(`${recorder.origin}${path}`, { headers })).json()) as { status: string };
    await eventually(async () => {
      const { status } = await read();
      if (status !== "completed") throw new Error(status);
    });
  };
  await untilCompleted();
  await send("retrieve", `GET ${path}`);
  await send("list", "GET /v1/vector_stores");
  await send("change", `POST ${path}`, { name: "Mammals", expires_after: { anchor: "last_active_at", days: 7 } });
  await send("list files", `GET ${path}/files?filter=completed`);
  await send("retrieve a file", `GET ${path}/files/${file_id}`);
  await send("change attributes", `POST ${path}/files/${file_id}`, { attributes: { kind: "lake" } });
  await send("content", `GET ${path}/files/${file_id}/content`);
  const filters = { type: "eq", key: "kind", value: "lake" };
  // Cosines differ in their last digits between processors.
  const bodyAs = "results with scores";
  const search = { key, body: { query: "otters", filters }, bodyAs };
  await recorder.send("search", `POST ${path}/search`, search);
  await send("search without a query", `POST ${path}/search`, { filters });
  const batch = await send("add a batch", `POST ${path}/file_batches`, { file_ids: [file_id] });
  await untilCompleted();
  await send("retrieve a batch", `GET ${path}/file_batches/${batch.id}`);
  await send("list its files", `GET ${path}/file_batches/${batch.id}/files`);
  await send("cancel a batch", `POST ${path}/file_batches/${batch.id}/cancel`);
  await send("remove a file", `DELETE ${path}/files/${file_id}`);
  await send("unknown file", `GET ${path}/files/${file_id}`);
  await send("delete", `DELETE ${path}`);
  await send("unknown store", `GET ${path}`);
  await send("unknown field", "POST /v1/vector_stores", { names: ["a"] });
};
