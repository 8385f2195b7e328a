import { type PersonalData, PSEUDONYM } from "../../storage/personal-data.ts";

export const configurationData = {
  configurationState: { reason: "One counter." },
  configurationEntries: { reason: "Models, connections and settings of the installation." },
  configurationChanges: { reason: "Earlier models, connections and settings of the installation." },
  configurationVersions: {
    rows: [{ by: { actorUserId: "user", actorKeyId: "caller" }, order: "version", erase: { actorUserId: PSEUDONYM } }],
  },
} as const satisfies PersonalData;
