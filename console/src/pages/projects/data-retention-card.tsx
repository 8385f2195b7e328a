import { Radio, Stack } from "@mantine/core";
import type { Answers } from "../../api/answers.ts";
import { msg, t } from "../../i18n/translate.ts";
import { PolicyCard } from "./policy-card.tsx";

type DataRetention = Answers["OrganizationDataRetention"] | Answers["ProjectDataRetention"];

const AS_ORGANIZATION = {
  value: "organization_default",
  label: msg("As the organization"),
  description: msg("What the organization lets the service keep."),
} as const;

/** From the least strict one. */
const RETENTIONS = [
  {
    value: "none",
    label: msg("Record and store"),
    description: msg("Prompts and answers are recorded where recording is on, and stored where callers ask for it."),
  },
  {
    value: "modified_abuse_monitoring",
    label: msg("Store, but never record"),
    description: msg("Prompts and answers are stored only where callers ask for it."),
  },
  {
    value: "zero_data_retention",
    label: msg("Keep nothing"),
    description: msg(
      "Prompts and answers are neither recorded, stored nor cached. What works with stored content is refused.",
    ),
  },
] as const;

/** What the service keeps of the requests of a project or an organization. */
export function DataRetentionCard({ path, isProject = false }: { path: string; isProject?: boolean }) {
  return (
    <PolicyCard<DataRetention, Answers["ProjectDataRetentionBody"]>
      path={path}
      title={t("Data retention")}
      about={t("Applies from the next request on. The stricter one of the organization and the project counts.")}
    >
      {({ type }, { change, isSaving }) => (
        <Radio.Group
          aria-label={t("Data retention")}
          value={type}
          onChange={(next) => change({ retention_type: next as DataRetention["type"] })}
        >
          <Stack gap="xs">
            {[...(isProject ? [AS_ORGANIZATION] : []), ...RETENTIONS].map(({ value, label, description }) => (
              <Radio key={value} value={value} label={t(label)} description={t(description)} disabled={isSaving} />
            ))}
          </Stack>
        </Radio.Group>
      )}
    </PolicyCard>
  );
}
