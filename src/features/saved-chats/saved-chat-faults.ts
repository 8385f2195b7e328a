import { Fault } from "../../kernel/faults.ts";

export function chatNotFound(id: string): Fault {
  const message = `You have no saved chat \`${id.slice(0, 100)}\` in this project. Save it with the revision 0.`;
  return new Fault("not-found", message, { code: "chat_not_found" });
}

export function chatChanged(id: string, revision: number, sent: number): Fault {
  const message = `The saved chat \`${id}\` has the revision ${revision}, and this change is based on ${sent}. Read it again, merge your change into it and send its revision.`;
  return new Fault("conflict", message, { code: "chat_changed", param: "revision" });
}

export function savesNothing(): Fault {
  const message =
    "Chats are not saved here: `saved_chats.store` is off, or there is no encryption key. They stay in the browser. You can list and delete those that were saved before.";
  return new Fault("not-found", message, { code: "saved_chats_disabled" });
}

export function needsPerson(): Fault {
  const message =
    "Only the person who had a chat reads it, signed in to the console. A key cannot, because programs and other people have it.";
  return new Fault("forbidden", message, { code: "session_required" });
}

export function chatTooLarge(bytes: number, limit: number): Fault {
  const message = `The chat has ${bytes} bytes; the limit is ${limit}. Begin another one, or send smaller images and files.`;
  return new Fault("body-too-large", message, { code: "chat_too_large", param: "content" });
}

export function tooManyChats(limit: number): Fault {
  const message = `You have saved ${limit} chats, which is the limit. Delete some.`;
  return new Fault("quota-exhausted", message, { code: "too_many_chats" });
}

export function noRoom(bytes: number, limit: number): Fault {
  const message = `Your saved chats would have ${bytes} bytes; the limit is ${limit}. Delete some.`;
  return new Fault("quota-exhausted", message, { code: "chats_too_large" });
}

export function shareNotFound(id: string): Fault {
  const message = `This project has no shared chat \`${id.slice(0, 100)}\`. Its person may have ended the sharing, or it belongs to another project.`;
  return new Fault("not-found", message, { code: "shared_chat_not_found" });
}
