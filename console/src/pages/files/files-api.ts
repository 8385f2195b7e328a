import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request, send } from "../../api/request.ts";
import { saveFile } from "../../components/save-file.ts";
import { type Message, msg } from "../../i18n/translate.ts";

export type StoredFile = Answers["File"];
export type Purpose = StoredFile["purpose"];

export const PURPOSES: Readonly<Record<Purpose, Message>> = {
  assistants: msg("Assistants and vector stores"),
  batch: msg("Input of a batch"),
  batch_output: msg("Result of a batch"),
  user_data: msg("Documents for chats"),
  vision: msg("Images for chats"),
  evals: msg("Rows of an eval"),
};
/** Results are written by the service. */
export const UPLOAD_PURPOSES = (Object.keys(PURPOSES) as Purpose[]).filter((purpose) => purpose !== "batch_output");

export const filesQuery = queryOptions({
  queryKey: ["files"],
  queryFn: ({ signal }) => listAll<StoredFile>("v1/files", { limit: 1000 }, signal),
  refetchInterval: 15_000,
});

export interface NewFile {
  file: File;
  purpose: Purpose;
  /** Left out: as long as the service keeps files. */
  expiresAfterSeconds?: number | undefined;
}

export function uploadFile({ file, purpose, expiresAfterSeconds }: NewFile): Promise<StoredFile> {
  const form = new FormData();
  form.set("purpose", purpose);
  if (expiresAfterSeconds !== undefined) {
    form.set("expires_after[anchor]", "created_at");
    form.set("expires_after[seconds]", String(expiresAfterSeconds));
  }
  form.set("file", file, file.name);
  return request<StoredFile>("v1/files", { method: "POST", body: form });
}

export function deleteFile(id: string): Promise<unknown> {
  return request(`v1/files/${encodeURIComponent(id)}`, { method: "DELETE" });
}

export function readContent(id: string): Promise<Response> {
  return send(`v1/files/${encodeURIComponent(id)}/content`);
}

export async function downloadContent(id: string, name: string): Promise<void> {
  saveFile(name, await (await readContent(id)).blob());
}
