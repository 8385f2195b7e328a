import type { PersonalData } from "../../storage/personal-data.ts";

export const evalData = {
  evals: {
    rows: [{ by: { createdBy: "caller" }, hidden: ["definition"], erase: { createdBy: null } }],
    texts: { columns: ["name", "definition", "metadata"], within: "projectId" },
  },
  evalRuns: {
    rows: [{ by: { keyId: "caller" }, hidden: ["source", "leaseId"], order: "id", erase: "delete" }],
    texts: { columns: ["name", "metadata", "error"], within: "projectId" },
  },
  // Others are deleted with their run.
  evalItems: {
    rows: [{ by: { authorKeyId: "caller", endUser: "endUser" }, hidden: ["content"], order: "id", erase: "delete" }],
  },
} as const satisfies PersonalData;
