import type { PersonalData } from "../../../storage/personal-data.ts";

export const mcpGrantData = {
  mcpGrants: { rows: [{ by: { userId: "user" }, order: "id", hidden: ["tokens", "request"], erase: "delete" }] },
  mcpRevocations: { reason: "Encrypted tokens without an owner, which are deleted once they are revoked." },
} as const satisfies PersonalData;
