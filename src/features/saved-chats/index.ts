/** What other features may use. */

export type { ChatKeys } from "./sealed-chats.ts";
