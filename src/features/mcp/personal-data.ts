import type { PersonalData } from "../privacy/personal-data.ts";

export const mcpData = {
  mcpCalls: { rows: [{ by: { keyId: "caller" }, order: "id", erase: "delete" }] },
} as const satisfies PersonalData;
