export const GROUPS = [
  { value: "model", label: "Model" },
  { value: "project_id", label: "Project" },
  { value: "api_key_id", label: "Key" },
  { value: "operation", label: "Operation" },
  { value: "time", label: "Time" },
] as const;
export type Group = (typeof GROUPS)[number]["value"];
