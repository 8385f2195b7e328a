import type { PersonalData } from "../../storage/personal-data.ts";

export const signOnData = {
  externalIdentities: {
    rows: [{ by: { userId: "user" }, erase: "delete" }],
    impersonal: { subject: "Deleted with its row." },
  },
  userPasswords: { rows: [{ by: { userId: "user" }, hidden: ["hash"], erase: "delete" }] },
  passwordLinks: {
    rows: [
      { by: { userId: "user" }, hidden: ["tokenHash", "createdBy", "createdByKey"], erase: "delete" },
      { by: { createdBy: "user" }, hidden: ["tokenHash", "userId"], erase: "delete" },
    ],
    impersonal: { createdByKey: "A key, whose links end with it." },
  },
  userSessions: {
    rows: [{ by: { userId: "user" }, hidden: ["adminHash", "projectHash", "tokens"], erase: "delete" }],
    impersonal: { subject: "Deleted with its row.", sid: "Deleted with its row.", projectKeyId: "Key of the project." },
  },
} as const satisfies PersonalData;
