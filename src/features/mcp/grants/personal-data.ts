import type { PersonalData } from "../../privacy/personal-data.ts";

export const mcpGrantData = {
  mcpGrants: { rows: [{ by: { userId: "user" }, order: "id", hidden: ["tokens", "request"], erase: "delete" }] },
} as const satisfies PersonalData;
