import type { Answers } from "../../api/answers.ts";
import { ApiError, listAll, request } from "../../api/request.ts";

export type SavedChat = Answers["SavedChat"];

const PATH = "v1/saved_chats";

export function listSavedChats(): Promise<SavedChat[]> {
  return listAll<SavedChat>(PATH);
}

export function readSavedChat(id: string): Promise<Answers["SavedChatWithContent"]> {
  return request(pathOf(id));
}

export function putSavedChat(
  id: string,
  body: { title: string; content: string; revision: number },
): Promise<SavedChat> {
  return request(pathOf(id), { method: "PUT", body });
}

/** Also resolves when another device has deleted it. */
export async function deleteSavedChat(id: string): Promise<void> {
  await request(pathOf(id), { method: "DELETE" }).catch((failure: unknown) => {
    if (!(failure instanceof ApiError) || failure.code !== "chat_not_found") throw failure;
  });
}

export function deleteAllSavedChats(): Promise<unknown> {
  return request(PATH, { method: "DELETE" });
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

/** Whether the account has no room for a chat. */
export function isFull({ code }: ApiError): boolean {
  return code === "too_many_chats" || code === "chats_too_large";
}
