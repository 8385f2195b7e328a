/** Rows of stored responses and conversations. */

import type { PersonalData } from "../../storage/personal-data.ts";

/** Stored response of the Responses API. */
export interface StoredResponseRow {
  id: string;
  projectId: string;
  previousResponseId: string | null;
  conversationId: string | null;
  /** 1: it runs without a connection of its client. */
  isBackground: number;
  status: string;
  createdAt: number;
  /** Time of its creation, of the last response that continues it, or of the last sign of life of its run. */
  usedAt: number;
  /** Key that stored it; null: stored by an earlier version. */
  createdBy?: string | null;
  /** Encrypted JSON of the response without its output. */
  content: Buffer;
}

export interface ConversationRow {
  id: string;
  projectId: string;
  createdAt: number;
  usedAt: number;
  /** Key that stored it; null: stored by an earlier version. */
  createdBy?: string | null;
  /** Encrypted JSON of its metadata. */
  content: Buffer;
}

/** Item of a response, of a conversation, or of both. */
export interface ResponseItemRow {
  id: string;
  projectId: string;
  responseId: string | null;
  conversationId: string | null;
  /** Increases within a response and within a conversation. */
  position: number;
  isOutput: number;
  /** Encrypted JSON. */
  content: Buffer;
}

/** Consecutive stream events of a background response. */
interface ResponseEventsRow {
  responseId: string;
  firstSequence: number;
  /** Encrypted JSON list. */
  content: Buffer;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    storedResponses: StoredResponseRow;
    conversations: ConversationRow;
    responseItems: ResponseItemRow;
    responseEvents: ResponseEventsRow;
  }
}

export const responseItemData = {
  responseItems: { reason: "Exported and erased with their response or conversation." },
  responseEvents: { reason: "Erased with their response." },
} as const satisfies PersonalData;
