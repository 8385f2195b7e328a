import { type PersonalData, PSEUDONYM } from "../../storage/personal-data.ts";

export const configurationData = {
  configurationState: { reason: "One counter." },
  configurationEntries: {
    reason: "Models, connections and settings of the installation.",
    impersonal: { name: "Name of an entry.", value: "Settings of the operator." },
  },
  configurationChanges: {
    reason: "Earlier models, connections and settings of the installation.",
    impersonal: { name: "Name of an entry.", valueBefore: "Settings of the operator.", valueAfter: "The same." },
  },
  configurationVersions: {
    rows: [{ by: { actorUserId: "user", actorKeyId: "caller" }, order: "version", erase: { actorUserId: PSEUDONYM } }],
  },
} as const satisfies PersonalData;
