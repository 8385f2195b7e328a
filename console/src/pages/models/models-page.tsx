import { Badge, Group, SegmentedControl, Select, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { FilterBar } from "../../components/filter-bar.tsx";
import { formatBytes, formatNumber, formatPerMillion } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { type Column, ResourceTable } from "../../components/resource-table.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { TASK_NAMES } from "../../components/task-names.ts";
import { useAddressState } from "../../components/use-address-state.ts";
import { WeekCell } from "../../components/week-cell.tsx";
import { msg, plural, t } from "../../i18n/translate.ts";
import { IconCpu } from "../../icons.tsx";
import { DeploymentTable } from "../overview/deployment-table.tsx";
import { overviewQuery } from "../overview/overview-query.ts";
import { useWeekUsage } from "../usage/week-usage.ts";
import { ModelActions } from "./model-actions.tsx";
import { ModelLibrary } from "./model-library.tsx";
import { PullModel } from "./pull-model.tsx";

export function ModelsPage() {
  const session = useSession();
  const { project, is_admin } = session;
  const isOperator = session.is_admin && session.organization.is_default;
  const overview = useQuery({ ...overviewQuery, enabled: is_admin });
  const deployments = overview.data?.deployments ?? null;
  const query = useQuery({ ...modelsQuery, enabled: project !== null, refetchInterval: 5000 });
  const week = useWeekUsage("model");
  const [{ search, task: asked, view }, setAddress] = useAddressState({ search: "", task: "", view: "catalog" });
  const task = asked === "" ? null : asked;
  if (project === null) return <NeedsProjectKey />;
  const needle = search.trim().toLowerCase();
  return (
    <Page
      title={t("Models")}
      description={
        view === "library"
          ? t("Models that this machine can download and run.")
          : t("Models that {{project}} may use.", { project: project.name })
      }
      actions={<PullModel />}
    >
      <FilterBar>
        {isOperator && (
          <SegmentedControl
            size="sm"
            aria-label={t("View")}
            value={view}
            onChange={(next) => setAddress({ view: next })}
            data={[
              { value: "catalog", label: t("Catalog") },
              { value: "library", label: t("Library") },
            ]}
          />
        )}
        <TextInput
          aria-label={t("Search models")}
          placeholder={t("Search")}
          value={search}
          onChange={(event) => setAddress({ search: event.currentTarget.value }, { replace: true })}
        />
        <Select
          aria-label={t("Task")}
          placeholder={t("All tasks")}
          clearable
          data={Object.entries(TASK_NAMES).map(([value, name]) => ({ value, label: t(name) }))}
          value={task}
          onChange={(next) => setAddress({ task: next ?? "" })}
          w={160}
        />
      </FilterBar>
      {isOperator && view === "library" && <ModelLibrary search={needle} task={task} />}
      {(!isOperator || view !== "library") && (
        <ResourceTable
          query={query}
          rows={query.data?.filter(
            ({ id, metadata }) =>
              [id, ...metadata.aliases].some((name) => name.toLowerCase().includes(needle)) &&
              (task === null || metadata.task === task),
          )}
          keyOf={({ id }) => id}
          rowHeight={61}
          minWidth={980}
          empty={<Empty icon={<IconCpu />} title={t("No model matches")} />}
          columns={[
            ...modelColumns(),
            { label: t("Requests, 7 days"), cell: ({ id }) => <WeekCell values={week.data?.get(id)} /> },
          ]}
          actions={isOperator && ((model) => <ModelActions model={model} />)}
        />
      )}
      {view !== "library" && deployments !== null && <DeploymentTable deployments={deployments} />}
    </Page>
  );
}

const ABILITY_NAMES = {
  tools: msg("tools"),
  json_schema: msg("JSON Schema"),
  vision: msg("vision"),
  reasoning: msg("reasoning"),
};
const SHOWN_ABILITIES = Object.keys(ABILITY_NAMES) as (keyof typeof ABILITY_NAMES)[];

function modelColumns(): Column<ModelEntry>[] {
  return [
    { label: t("Model"), minWidth: 220, sortBy: ({ id }) => id, cell: (model) => <ModelName model={model} /> },
    { label: t("State"), cell: (model) => <StatusBadge state={stateOf(model)} /> },
    {
      label: t("Context"),
      isNumeric: true,
      sortBy: ({ metadata }) => metadata.context_window ?? 0,
      cell: ({ metadata: { context_window: tokens } }) => (tokens === null ? "—" : formatNumber(tokens)),
    },
    { label: t("Price per million"), isNumeric: true, cell: priceOf },
    {
      label: t("Memory"),
      isNumeric: true,
      sortBy: ({ metadata }) => metadata.memory_bytes ?? 0,
      cell: ({ metadata: { memory_bytes: bytes } }) => (bytes === null ? "—" : formatBytes(bytes)),
    },
  ];
}

function ModelName({ model }: { model: ModelEntry }) {
  const { metadata } = model;
  const { aliases } = metadata;
  const abilities = SHOWN_ABILITIES.filter((name) => metadata.capabilities[name] === true);
  return (
    <>
      <Text size="sm" fw={500} className="wrap-anywhere">
        {model.id}
      </Text>
      <Group gap={4}>
        <Badge size="sm" variant="light" tt="none">
          {t(TASK_NAMES[metadata.task])}
        </Badge>
        {abilities.map((name) => (
          <Badge key={name} size="sm" variant="default" tt="none">
            {t(ABILITY_NAMES[name])}
          </Badge>
        ))}
        {metadata.dimensions != null && (
          <Badge size="sm" variant="default" tt="none">
            {plural(metadata.dimensions, "{{count}} dimension", "{{count}} dimensions")}
          </Badge>
        )}
      </Group>
      {(model.access_groups ?? []).length > 0 && (
        <Text size="xs" c="dimmed" className="wrap-anywhere">
          {t("access groups {{names}}", { names: model.access_groups?.join(", ") ?? "" })}
        </Text>
      )}
      {aliases.length > 0 && (
        <Text size="xs" c="dimmed" className="wrap-anywhere" maw={420}>
          {t("also {{names}}", { names: aliases.join(", ") })}
        </Text>
      )}
    </>
  );
}

/** An available model is loaded by its first request, unless it is already. */
function stateOf({ metadata: { loaded, status } }: ModelEntry): string {
  if (loaded) return "up";
  return status === "available" ? "unloaded" : status;
}

/** Units of which the list shows the price; the others are details of these. */
const SHOWN_UNITS = {
  prompt: (price: string) => t("{{price}} prompt", { price }),
  completion: (price: string) => t("{{price}} completion", { price }),
  character: (price: string) => t("{{price}} character", { price }),
  second: (price: string) => t("{{price}} second", { price }),
};
const UNITS = Object.keys(SHOWN_UNITS) as (keyof typeof SHOWN_UNITS)[];

function priceOf({ metadata: { pricing } }: ModelEntry) {
  const parts = UNITS.flatMap((unit) => {
    const price = pricing[unit];
    if (typeof price !== "string") return [];
    return [SHOWN_UNITS[unit](formatPerMillion(price, pricing.currency))];
  });
  return parts.length === 0 ? "—" : parts.map((part) => <div key={part}>{part}</div>);
}
