import { Checkbox, Select, Stack, Switch } from "@mantine/core";
import type { Answers } from "../../api/answers.ts";
import { msg, t, translateLabels } from "../../i18n/translate.ts";
import { DataRetentionCard } from "./data-retention-card.tsx";
import { PolicyCard } from "./policy-card.tsx";
import { pathOf } from "./projects-api.ts";

type HostedTools = Answers["HostedToolPermissions"];
type ServiceTiers = Answers["ProjectServiceTierSettings"];

const TOOLS = [
  { value: "web_search", label: msg("Web search") },
  { value: "file_search", label: msg("File search") },
  { value: "code_interpreter", label: msg("Code interpreter") },
  { value: "image_generation", label: msg("Image generation") },
  { value: "mcp", label: msg("MCP servers") },
] as const;

const DEFAULT_TIERS = [
  { value: "standard", label: msg("Standard") },
  { value: "fast", label: msg("Fast") },
  { value: "scale", label: msg("Scale") },
];

const TIERS = [
  { value: "flex", label: msg("Flex") },
  { value: "fast", label: msg("Fast") },
  { value: "ultrafast", label: msg("Ultrafast") },
];

/** What requests of a project may use, and what the service keeps of them. */
export function PoliciesTab({ project }: { project: string }) {
  const path = pathOf(project);
  return (
    <Stack maw={640}>
      <HostedToolsCard path={`${path}/hosted_tool_permissions`} />
      <DataRetentionCard path={`${path}/data_retention`} isProject />
      <ServiceTiersCard path={`${path}/service_tier_settings`} />
    </Stack>
  );
}

function HostedToolsCard({ path }: { path: string }) {
  return (
    <PolicyCard<HostedTools, Answers["HostedToolPermissionsBody"]>
      path={path}
      title={t("Tools of the service")}
      about={t(
        "A request with a tool that is off is refused, wherever the tool would run. Functions of callers always work.",
      )}
    >
      {(tools, { change, isSaving }) => (
        <Stack gap="xs">
          {TOOLS.map(({ value, label }) => (
            <Switch
              key={value}
              label={t(label)}
              checked={tools[value].enabled}
              disabled={isSaving}
              onChange={(event) => change({ [value]: { enabled: event.currentTarget.checked } })}
            />
          ))}
        </Stack>
      )}
    </PolicyCard>
  );
}

function ServiceTiersCard({ path }: { path: string }) {
  return (
    <PolicyCard<ServiceTiers, Answers["ServiceTierSettingsBody"]>
      path={path}
      title={t("Service tiers")}
      about={t("Tiers of providers, with their own speed and price. Local models answer in one tier.")}
    >
      {({ default: standard, enabled_tiers: enabled }, { change, isSaving }) => (
        <Stack>
          <Select
            label={t("Requests that name no tier")}
            allowDeselect={false}
            data={translateLabels(DEFAULT_TIERS)}
            value={standard}
            disabled={isSaving}
            onChange={(tier) => change({ default: (tier ?? "standard") as ServiceTiers["default"] })}
          />
          <Switch
            label={t("Requests may name any tier")}
            checked={enabled === "all"}
            disabled={isSaving}
            onChange={(event) => change({ enabled_tiers: event.currentTarget.checked ? "all" : [] })}
          />
          {enabled !== "all" && (
            <Checkbox.Group
              label={t("Tiers that requests may name")}
              value={enabled}
              onChange={(tiers) => change({ enabled_tiers: tiers as typeof enabled })}
            >
              <Stack gap="xs" mt="xs">
                {TIERS.map(({ value, label }) => (
                  <Checkbox key={value} value={value} label={t(label)} disabled={isSaving} />
                ))}
              </Stack>
            </Checkbox.Group>
          )}
        </Stack>
      )}
    </PolicyCard>
  );
}
