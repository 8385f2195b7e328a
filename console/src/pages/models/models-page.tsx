import { Badge, Card, Group, SegmentedControl, Select, Table, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatNumber } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { StatusBadge } from "../../components/status-badge.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { WeekCell } from "../../components/week-cell.tsx";
import { IconCpu } from "../../icons.tsx";
import { DeploymentTable } from "../overview/deployment-table.tsx";
import { overviewQuery } from "../overview/overview-query.ts";
import { useWeekUsage } from "../usage/week-usage.ts";
import { ModelActions } from "./model-actions.tsx";
import { ModelLibrary } from "./model-library.tsx";
import { PullModel } from "./pull-model.tsx";

const TASKS = ["chat", "embedding", "moderation", "speech", "transcription", "image"];

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
      title="Models"
      description={
        view === "library" ? "Models that this machine can download and run." : `Models that ${project.name} may use.`
      }
      actions={<PullModel />}
    >
      <Group gap="sm">
        {isOperator && (
          <SegmentedControl
            size="sm"
            aria-label="View"
            value={view}
            onChange={(next) => setAddress({ view: next })}
            data={[
              { value: "catalog", label: "Catalog" },
              { value: "library", label: "Library" },
            ]}
          />
        )}
        <TextInput
          aria-label="Search models"
          placeholder="Search"
          value={search}
          onChange={(event) => setAddress({ search: event.currentTarget.value }, { replace: true })}
        />
        <Select
          aria-label="Task"
          placeholder="All tasks"
          clearable
          data={TASKS}
          value={task}
          onChange={(next) => setAddress({ task: next ?? "" })}
          w={160}
        />
      </Group>
      {isOperator && view === "library" && <ModelLibrary search={needle} task={task} />}
      {(!isOperator || view !== "library") && (
        <QueryView query={query}>
          {(models) => {
            const shown = models.filter(
              ({ id, metadata }) =>
                [id, ...metadata.aliases].some((name) => name.toLowerCase().includes(needle)) &&
                (task === null || metadata.task === task),
            );
            return (
              <Card padding={0}>
                {shown.length === 0 ? (
                  <Empty icon={<IconCpu />} title="No model matches" />
                ) : (
                  <Table.ScrollContainer minWidth={980} tabIndex={0}>
                    <Table>
                      <Table.Thead>
                        <Table.Tr>
                          <Table.Th>Model</Table.Th>
                          <Table.Th>State</Table.Th>
                          <Table.Th ta="right">Context</Table.Th>
                          <Table.Th ta="right">Price per million</Table.Th>
                          <Table.Th ta="right">Memory</Table.Th>
                          <Table.Th>Requests, 7 days</Table.Th>
                          {isOperator && <Table.Th ta="right">Actions</Table.Th>}
                        </Table.Tr>
                      </Table.Thead>
                      <VirtualBody rows={shown} columns={isOperator ? 7 : 6} rowHeight={61} keyOf={({ id }) => id}>
                        {(model) => (
                          <ModelCells model={model} isOperator={isOperator} week={week.data?.get(model.id)} />
                        )}
                      </VirtualBody>
                    </Table>
                  </Table.ScrollContainer>
                )}
              </Card>
            );
          }}
        </QueryView>
      )}
      {view !== "library" && deployments !== null && <DeploymentTable deployments={deployments} />}
    </Page>
  );
}

const SHOWN_CAPABILITIES = ["tools", "json_schema", "vision", "reasoning"];

interface ModelCellsProps {
  model: ModelEntry;
  isOperator: boolean;
  week: readonly number[] | undefined;
}

function ModelCells({ model, isOperator, week }: ModelCellsProps) {
  const { metadata } = model;
  const { aliases } = metadata;
  const abilities = SHOWN_CAPABILITIES.filter((name) => metadata.capabilities[name] === true);
  return (
    <>
      <Table.Td>
        <Text size="sm" fw={500} className="wrap-anywhere">
          {model.id}
        </Text>
        <Group gap={4}>
          <Badge size="xs" variant="light" tt="none">
            {metadata.task}
          </Badge>
          {abilities.map((name) => (
            <Badge key={name} size="xs" variant="default" tt="none">
              {name.replace("json_schema", "JSON Schema")}
            </Badge>
          ))}
          {metadata.dimensions != null && (
            <Badge size="xs" variant="default" tt="none">
              {metadata.dimensions} dimensions
            </Badge>
          )}
        </Group>
        {(model.access_groups ?? []).length > 0 && (
          <Text size="xs" c="dimmed" className="wrap-anywhere">
            access groups {model.access_groups?.join(", ")}
          </Text>
        )}
        {aliases.length > 0 && (
          <Text size="xs" c="dimmed" className="wrap-anywhere" maw={420}>
            also {aliases.join(", ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <StatusBadge state={stateOf(model)} />
      </Table.Td>
      <Table.Td ta="right" className="tabular">
        {metadata.context_window === null ? "—" : formatNumber(metadata.context_window)}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {priceOf(model)}
      </Table.Td>
      <Table.Td ta="right" className="tabular nowrap">
        {metadata.memory_bytes === null ? "—" : formatBytes(metadata.memory_bytes)}
      </Table.Td>
      <Table.Td>
        <WeekCell values={week} />
      </Table.Td>
      {isOperator && (
        <Table.Td ta="right">
          <ModelActions model={model} />
        </Table.Td>
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
const SHOWN_UNITS = ["prompt", "completion", "character", "second"] as const;

/** Prices are per unit, such as a token; a million of them is how they are compared. */
function priceOf({ metadata: { pricing } }: ModelEntry): string {
  const symbol = pricing.currency === undefined ? "$" : `${pricing.currency} `;
  const parts = SHOWN_UNITS.flatMap((unit) => {
    const price = pricing[unit];
    return typeof price === "string" ? [`${symbol}${formatNumber(Number(price) * 1e6)} ${unit}`] : [];
  });
  return parts.length === 0 ? "—" : parts.join(", ");
}
