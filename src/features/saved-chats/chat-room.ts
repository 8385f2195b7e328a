import type { Executor } from "../../storage/database.ts";
import { chatTooLarge, noRoom, tooManyChats } from "./saved-chat-faults.ts";
import { measureChatsOf } from "./saved-chat-queries.ts";
import type { SavedChatSettings } from "./settings.ts";

export type ChatBounds = Omit<SavedChatSettings, "store" | "keepDays">;

interface RoomRequest {
  userId: string;
  /** Size of the content that is to be stored. */
  bytes: number;
  /** The row that it replaces. */
  current: { bytes: number } | undefined;
}

/** Throws a Fault where a person's chats and shared copies would have more rows or bytes than the settings allow. */
export async function reserveRoom(
  executor: Executor,
  bounds: ChatBounds,
  { userId, bytes, current }: RoomRequest,
): Promise<void> {
  if (bytes > bounds.maxSizePerChat) throw chatTooLarge(bytes, bounds.maxSizePerChat);
  const stored = await measureChatsOf(executor, userId);
  const total = stored.bytes - (current?.bytes ?? 0) + bytes;
  if (current === undefined && stored.chats >= bounds.maxChatsPerPerson) throw tooManyChats(bounds.maxChatsPerPerson);
  // A chat may shrink beyond the bound.
  if (total > bounds.maxSizePerPerson && bytes > (current?.bytes ?? 0)) throw noRoom(total, bounds.maxSizePerPerson);
}
