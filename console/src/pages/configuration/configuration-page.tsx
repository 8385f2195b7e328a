// Not part of the first load.
import { msg, t } from "../../i18n/translate.ts";
import "@fontsource-variable/geist-mono/wght.css";
import { Badge, Card, Code, Group, SegmentedControl, Stack, Text, TextInput, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { may, useSession } from "../../api/session.ts";
import { CodeBlock } from "../../components/code-block.tsx";
import { Empty } from "../../components/empty.tsx";
import { InlineCode } from "../../components/inline-code.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { IconSettings } from "../../icons.tsx";
import { entriesQuery } from "../connections/connections-api.ts";
import { EntryTable } from "../connections/entry-table.tsx";
import { type Configuration, configurationQuery, type Setting } from "./configuration-query.ts";

export function ConfigurationPage() {
  const query = useQuery(configurationQuery);
  return (
    <Page
      title={t("Configuration")}
      description={t("The settings in force, from parlance.yaml, the environment and the page Connections.")}
    >
      <SettingEntries />
      <QueryView query={query}>{(configuration) => <Content {...configuration} />}</QueryView>
    </Page>
  );
}

/** Settings that the API has set, to change and to remove. */
function SettingEntries() {
  const mayChange = may(useSession(), "organization.configuration.write");
  const { data: entries = [] } = useQuery(entriesQuery);
  const settings = entries.filter(({ kind, source }) => kind === "setting" && source === "api");
  if (settings.length === 0) return null;
  return <EntryTable title={t("Set by the API")} entries={settings} mayChange={mayChange} empty={null} />;
}

function Content({ version, file, settings, models }: Configuration) {
  const [{ search, shown }, setAddress] = useAddressState({ search: "", shown: "all" });
  const query = search.trim().toLowerCase();
  const matching = settings.filter(
    ({ key, description, source }) =>
      `${key} ${description}`.toLowerCase().includes(query) && (shown === "all" || source !== "default"),
  );
  const sections = Map.groupBy(matching, sectionOf);
  return (
    <>
      <Group gap="sm">
        <TextInput
          aria-label={t("Search settings")}
          placeholder={t("Search {{number}} settings", { number: settings.length })}
          value={search}
          onChange={(event) => setAddress({ search: event.currentTarget.value }, { replace: true })}
        />
        <SegmentedControl
          size="xs"
          aria-label={t("Shown settings")}
          value={shown}
          onChange={(next) => setAddress({ shown: next })}
          data={[
            { value: "all", label: t("All") },
            { value: "set", label: t("Set by you") },
          ]}
        />
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          Parlance {version} · {file ?? t("no configuration file")}
        </Text>
      </Group>
      {matching.length === 0 && <Empty icon={<IconSettings />} title={t("No setting matches")} />}
      {[...sections].map(([section, own]) => (
        <Card key={section} padding={0}>
          <Title order={2} p="md" pb="xs">
            {section}
          </Title>
          {own.map((setting) => (
            <SettingRow key={setting.key} setting={setting} />
          ))}
        </Card>
      ))}
      {models.length > 0 && query === "" && (
        <Card>
          <Title order={2} mb="sm">
            {t("Configured models")}
          </Title>
          <Stack gap="sm">
            {models.map((model) => (
              <ModelBlock key={model.id} model={model} />
            ))}
          </Stack>
        </Card>
      )}
    </>
  );
}

function sectionOf({ key }: Setting): string {
  if (/^[A-Z]/.test(key)) return t("Environment");
  return key.includes(".") ? (key.split(".")[0] ?? key) : t("General");
}

const SOURCES = {
  default: msg("default"),
  file: msg("parlance.yaml"),
  environment: msg("environment"),
  api: msg("API"),
} as const;

function SettingRow({ setting: { key, value, default: otherwise, source, description } }: { setting: Setting }) {
  return (
    <div className="setting">
      <div>
        <Group gap={6}>
          <Code className="wrap-anywhere">{key}</Code>
          {source !== "default" && (
            <Badge size="xs" variant="light" tt="none">
              {t(SOURCES[source])}
            </Badge>
          )}
        </Group>
        <Text size="sm" c="dimmed" mt={4}>
          <InlineCode text={description} />
        </Text>
      </div>
      <div className="wrap-anywhere">
        <Text size="sm" ff="monospace" fw={source === "default" ? 400 : 600}>
          {shownValue(value)}
        </Text>
        {source !== "default" && otherwise !== null && (
          <Text size="xs" c="dimmed">
            {t("default {{value}}", { value: shownValue(otherwise) })}
          </Text>
        )}
      </div>
    </div>
  );
}

function shownValue(value: unknown): string {
  if (value === null) return t("not set");
  if (Array.isArray(value)) return value.length === 0 ? t("none") : value.map(shownValue).join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}

function ModelBlock({ model }: { model: { id: string } }) {
  return (
    <details>
      <summary className="wrap-anywhere">{model.id}</summary>
      <CodeBlock text={JSON.stringify(model, undefined, 2)} label={t("Copy")} />
    </details>
  );
}
