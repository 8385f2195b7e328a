import type { PersonalData } from "../../storage/personal-data.ts";

export const evalData = {
  evals: { rows: [{ by: { createdBy: "caller" }, hidden: ["definition"], erase: { createdBy: null } }] },
  evalRuns: { rows: [{ by: { keyId: "caller" }, hidden: ["source", "leaseId"], order: "id", erase: "delete" }] },
  // Others are deleted with their run.
  evalItems: {
    rows: [{ by: { authorKeyId: "caller", endUser: "endUser" }, hidden: ["content"], order: "id", erase: "delete" }],
  },
} as const satisfies PersonalData;
