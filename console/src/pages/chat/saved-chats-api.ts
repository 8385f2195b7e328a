import type { Answers } from "../../api/answers.ts";
import { ApiError, listAll, request } from "../../api/request.ts";

export type SavedChat = Answers["SavedChat"];

const PATH = "v1/saved_chats";

/** The chats of a project. Another tab may change the session's project, whose chats are then refused with a 401. */
export class SavedChatsApi {
  readonly #headers: Readonly<Record<string, string>>;

  constructor(projectId: string) {
    this.#headers = { "openai-project": projectId };
  }

  list(): Promise<SavedChat[]> {
    return listAll<SavedChat>(PATH, {}, undefined, this.#headers);
  }

  read(id: string): Promise<Answers["SavedChatWithContent"]> {
    return request(pathOf(id), { headers: this.#headers });
  }

  put(id: string, body: { title: string; content: string; revision: number }): Promise<SavedChat> {
    return request(pathOf(id), { method: "PUT", body, headers: this.#headers });
  }

  arrange(id: string, body: Answers["SavedChatArrangement"]): Promise<SavedChat> {
    return request(pathOf(id, "/arrangement"), { method: "PUT", body, headers: this.#headers });
  }

  share(id: string, body: Answers["SharedChatBody"]): Promise<SavedChat> {
    return request(pathOf(id, "/share"), { method: "PUT", body, headers: this.#headers });
  }

  endSharing(id: string): Promise<SavedChat> {
    return request(pathOf(id, "/share"), { method: "DELETE", headers: this.#headers });
  }

  readShared(id: string): Promise<Answers["SharedChat"]> {
    return request(`v1/shared_chats/${encodeURIComponent(id)}`, { headers: this.#headers });
  }

  /** Also resolves when another device has deleted it. */
  async delete(id: string): Promise<void> {
    await request(pathOf(id), { method: "DELETE", headers: this.#headers }).catch((failure: unknown) => {
      if (!isMissing(failure)) throw failure;
    });
  }

  deleteAll(): Promise<unknown> {
    return request(PATH, { method: "DELETE", headers: this.#headers });
  }
}

/** Whether the person has no such chat, such as one that another device deleted. */
export function isMissing(failure: unknown): boolean {
  return failure instanceof ApiError && failure.code === "chat_not_found";
}

function pathOf(id: string, rest = ""): string {
  return `${PATH}/${encodeURIComponent(id)}${rest}`;
}

/** Whether the account has no room for a chat. */
export function isFull({ code }: ApiError): boolean {
  return code === "too_many_chats" || code === "chats_too_large";
}
