import type { PersonalData } from "../privacy/personal-data.ts";

export const evalData = {
  evals: { rows: [{ by: { createdBy: "key" }, hidden: ["definition"], erase: { createdBy: null } }] },
  evalRuns: { rows: [{ by: { keyId: "key" }, hidden: ["source", "leaseId"], order: "id", erase: "delete" }] },
  evalItems: { reason: "Deleted with their run." },
} as const satisfies PersonalData;
