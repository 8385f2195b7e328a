import type { PersonalData } from "../../storage/personal-data.ts";

export const uploadData = {
  uploads: {
    rows: [{ by: { createdBy: "caller" }, order: "id", erase: { createdBy: null, status: "cancelled", filename: "" } }],
  },
  uploadParts: { reason: "Deleted with their upload, an hour after it began." },
} as const satisfies PersonalData;
