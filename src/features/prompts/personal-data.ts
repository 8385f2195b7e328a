import type { PersonalData } from "../../storage/personal-data.ts";

export const promptData = {
  prompts: {
    reason: "Templates of projects; the audit log says who changed them.",
    texts: { columns: ["name", "description"], within: "projectId" },
  },
  promptVersions: {
    rows: [{ by: { createdBy: "caller" }, erase: { createdBy: null } }],
    texts: { columns: ["content", "note"], within: { column: "promptId", table: "prompts", by: "projectId" } },
  },
  promptLabels: {
    reason: "Names of versions.",
    texts: { columns: ["label"], within: { column: "promptId", table: "prompts", by: "projectId" } },
  },
} as const satisfies PersonalData;
