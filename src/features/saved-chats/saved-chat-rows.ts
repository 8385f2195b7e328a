/** Rows of saved chats. Times are epoch milliseconds. */

export interface SavedChatRow {
  projectId: string;
  userId: string;
  /** Chosen by the client; unique for a person in a project. */
  id: string;
  /** From 1; increases with each change. */
  revision: number;
  /** Size of the content before it was compressed and encrypted. */
  bytes: number;
  createdAt: number;
  updatedAt: number;
  /** Encrypted. */
  title: Buffer;
  /** Encrypted; compressed before. */
  content: Buffer;
  /** Encrypted name; null: in no folder. */
  folder: Buffer | null;
  /** 1: listed before the others. */
  isPinned: number;
  /** ID of the chat of which this is the copy that members of the project read; null: a chat. */
  sharedOf: string | null;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    savedChats: SavedChatRow;
  }
}
