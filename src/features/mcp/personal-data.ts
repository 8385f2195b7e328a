import type { PersonalData } from "../../storage/personal-data.ts";

export const mcpData = {
  mcpCalls: { rows: [{ by: { keyId: "caller" }, order: "id", erase: "delete" }] },
  mcpMessages: {
    reason: "Encrypted on their way between replicas, and deleted within minutes.",
    impersonal: { content: "Encrypted." },
  },
} as const satisfies PersonalData;
