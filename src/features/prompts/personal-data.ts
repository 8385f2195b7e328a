import type { PersonalData } from "../../storage/personal-data.ts";

export const promptData = {
  prompts: { reason: "Templates of projects; the audit log says who changed them." },
  promptVersions: {
    rows: [{ by: { createdBy: "caller" }, erase: { createdBy: null } }],
  },
  promptLabels: { reason: "Names of versions." },
} as const satisfies PersonalData;
