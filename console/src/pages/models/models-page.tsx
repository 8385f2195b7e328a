import { Badge, Button, Card, Group, Progress, Select, Stack, Table, Text, TextInput } from "@mantine/core";
import { IconCpu } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type ModelEntry, modelsQuery } from "../../api/models.ts";
import { request, send } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatNumber } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { notifyDone, notifyFailure } from "../../components/notify.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { readPull } from "./read-pull.ts";

const TASKS = ["chat", "embedding", "moderation", "speech", "transcription"];

export function ModelsPage() {
  const { project } = useSession();
  const query = useQuery({ ...modelsQuery, enabled: project !== null, refetchInterval: 5000 });
  const [search, setSearch] = useState("");
  const [task, setTask] = useState<string | null>(null);
  if (project === null) return <NeedsProjectKey />;
  const wanted = search.trim().toLowerCase();
  return (
    <Page title="Models" description={`Models that ${project.name} may use.`}>
      <Group gap="sm">
        <TextInput
          aria-label="Search models"
          placeholder="Search"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
        <Select
          aria-label="Task"
          placeholder="All tasks"
          clearable
          data={TASKS}
          value={task}
          onChange={setTask}
          w={160}
        />
      </Group>
      <QueryView query={query}>
        {(models) => {
          const shown = models.filter(
            ({ id, metadata }) =>
              [id, ...metadata.aliases].some((name) => name.toLowerCase().includes(wanted)) &&
              (task === null || metadata.task === task),
          );
          return (
            <Card padding={0}>
              {shown.length === 0 ? (
                <Empty icon={<IconCpu />} title="No model matches" />
              ) : (
                <Table.ScrollContainer minWidth={840} tabIndex={0}>
                  <Table>
                    <Table.Thead>
                      <Table.Tr>
                        <Table.Th>Model</Table.Th>
                        <Table.Th>State</Table.Th>
                        <Table.Th ta="right">Context</Table.Th>
                        <Table.Th ta="right">Price per million</Table.Th>
                        <Table.Th ta="right">Memory</Table.Th>
                        <Table.Th ta="right">Actions</Table.Th>
                      </Table.Tr>
                    </Table.Thead>
                    <Table.Tbody>
                      {shown.map((model) => (
                        <ModelRow key={model.id} model={model} />
                      ))}
                    </Table.Tbody>
                  </Table>
                </Table.ScrollContainer>
              )}
            </Card>
          );
        }}
      </QueryView>
    </Page>
  );
}

const SHOWN_CAPABILITIES = ["tools", "json_schema", "vision", "reasoning"];

function ModelRow({ model }: { model: ModelEntry }) {
  const { metadata } = model;
  const { aliases } = metadata;
  const abilities = SHOWN_CAPABILITIES.filter((name) => metadata.capabilities[name] === true);
  return (
    <Table.Tr>
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
        {aliases.length > 0 && (
          <Text size="xs" c="dimmed" className="wrap-anywhere" maw={420}>
            also {aliases.join(", ")}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <Badge variant="dot" color={metadata.loaded ? "teal" : "gray"} tt="none" fw={500}>
          {metadata.status}
        </Badge>
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
      <Table.Td ta="right">
        <ModelActions model={model} />
      </Table.Td>
    </Table.Tr>
  );
}

/** Prices are US dollars per unit, such as a token; a million of them is how they are compared. */
function priceOf({ metadata: { pricing } }: ModelEntry): string {
  const parts = Object.entries(pricing).flatMap(([unit, price]) =>
    price === null || unit === "cached_prompt" ? [] : [`$${formatNumber(Number(price) * 1e6)} ${unit}`],
  );
  return parts.length === 0 ? "—" : parts.join(", ");
}

function ModelActions({ model }: { model: ModelEntry }) {
  const session = useSession();
  const client = useQueryClient();
  const [progress, setProgress] = useState<number>();
  const [isBusy, setIsBusy] = useState(false);
  if (!session.is_admin || !session.organization.is_default) return null;
  const path = `v1/organization/models/${encodeURIComponent(model.id)}`;
  const run = async (work: () => Promise<unknown>, done: string) => {
    setIsBusy(true);
    try {
      await work();
      notifyDone(done);
    } catch (failure) {
      notifyFailure(failure);
    } finally {
      setIsBusy(false);
      setProgress(undefined);
      await client.invalidateQueries({ queryKey: modelsQuery.queryKey });
    }
  };
  const pull = async () => readPull(await send(`${path}/pull`, { method: "POST" }), setProgress);
  return (
    <Stack gap={4} align="flex-end">
      <Group gap={4} wrap="nowrap">
        {model.metadata.loaded ? (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={isBusy}
            onClick={() => run(() => request(`${path}/unload`, { method: "POST" }), `${model.id} is unloaded`)}
          >
            Unload
          </Button>
        ) : (
          <Button
            size="compact-sm"
            variant="subtle"
            loading={isBusy && progress === undefined}
            onClick={() => run(() => request(`${path}/load`, { method: "POST" }), `${model.id} is loaded`)}
          >
            Load
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="subtle"
          disabled={isBusy}
          onClick={() => run(pull, `The files of ${model.id} are complete`)}
        >
          Pull
        </Button>
        <ConfirmButton
          question={`Remove the files of ${model.id}?`}
          consequence="Its files are deleted from this machine. The next request downloads them again."
          onConfirm={() => run(() => request(path, { method: "DELETE" }), `The files of ${model.id} are removed`)}
        >
          Remove
        </ConfirmButton>
      </Group>
      {progress !== undefined && (
        <Progress w={160} value={100 * progress} aria-label={`Download of ${model.id}`} animated />
      )}
    </Stack>
  );
}
