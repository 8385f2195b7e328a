import { Badge, Button, Card, Group, Progress, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { modelsQuery } from "../../api/models.ts";
import { request } from "../../api/request.ts";
import { Empty } from "../../components/empty.tsx";
import { formatBytes, formatNumber } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { TASK_NAMES } from "../../components/task-names.ts";
import { useAddressState } from "../../components/use-address-state.ts";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import {
  IconDownload,
  IconMessage,
  IconMicrophone,
  IconPhoto,
  IconShieldCheck,
  IconVectorTriangle,
  IconVolume,
  IconX,
} from "../../icons.tsx";
import { chatStore } from "../chat/chat-store.ts";
import { newConversation } from "../chat/conversation.ts";
import { type Library, type LibraryModel, libraryQuery, type Pull, pullPath, startPull } from "./library-query.ts";
import { formatReceived } from "./pull-bar.tsx";

interface ModelLibraryProps {
  search: string;
  task: string | null;
}

/** Models that can be pulled, with what they need and how fast they are on this machine. */
export function ModelLibrary({ search, task }: ModelLibraryProps) {
  const query = useQuery(libraryQuery);
  const [{ fits }, setAddress] = useAddressState({ fits: "no" });
  useFinishedPulls(query.data);
  return (
    <QueryView query={query} loading="cards">
      {({ machine, data }) => {
        const shown = data.filter(
          (model) =>
            `${model.id} ${model.description}`.toLowerCase().includes(search) &&
            (task === null || model.task === task) &&
            (fits === "no" || model.fits),
        );
        return (
          <>
            <Group justify="space-between" gap="sm">
              <Text size="sm" c="dimmed" className="tabular">
                {t("This machine: {{cores}} cores, {{free}} of memory free, of which models may use {{usable}}", {
                  cores: machine.cores,
                  free: formatBytes(machine.free_bytes),
                  usable: formatBytes(Math.min(machine.free_bytes, machine.model_memory_bytes)),
                })}
              </Text>
              <Switch
                label={t("Only what fits")}
                checked={fits === "yes"}
                onChange={(event) => setAddress({ fits: event.currentTarget.checked ? "yes" : "no" })}
              />
            </Group>
            {shown.length === 0 && (
              <Card>
                <Empty icon={<IconDownload />} title={t("No model matches")} />
              </Card>
            )}
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
              {shown.map((model) => (
                <LibraryCard key={model.id} model={model} />
              ))}
            </SimpleGrid>
          </>
        );
      }}
    </QueryView>
  );
}

/** Says when a pull has ended, and reads the catalog again. */
function useFinishedPulls(library: Library | undefined): void {
  const client = useQueryClient();
  const running = useRef(new Set<string>());
  useEffect(() => {
    for (const { id, pull } of library?.data ?? []) {
      if (pull?.state === "running") running.current.add(id);
      else if (running.current.delete(id) && pull?.state === "done") {
        notifyDone(t("The files of {{model}} are complete", { model: id }));
        void client.invalidateQueries({ queryKey: modelsQuery.queryKey });
      }
    }
  }, [library, client]);
}

function LibraryCard({ model }: { model: LibraryModel }) {
  const { id, task, description, license, languages, fits, is_pulled: isPulled, pull } = model;
  return (
    <Card component="article" aria-label={id} className="library-card">
      <Stack gap={10} h="100%">
        <Group justify="space-between" align="flex-start" gap="xs" wrap="nowrap">
          <Text fw={600} className="wrap-anywhere" lh={1.3}>
            {id}
          </Text>
          <FitBadge isPulled={isPulled} fits={fits} />
        </Group>
        <Text size="sm" c="dimmed" lineClamp={3} flex={1}>
          {description}
        </Text>
        <Group gap={6}>
          <Badge size="sm" variant="light" tt="none">
            {t(TASK_NAMES[task])}
          </Badge>
          {languages !== null && (
            <Badge size="sm" variant="light" color="apricot" tt="none">
              {languages}
            </Badge>
          )}
          <Badge size="sm" variant="default" tt="none">
            {license}
          </Badge>
        </Group>
        <dl className="library-facts tabular">
          <Fact
            label={t("Download", { context: "noun" })}
            value={model.download_bytes === null ? "—" : formatBytes(model.download_bytes)}
          />
          <Fact label={t("Memory")} value={model.memory_bytes === null ? "—" : formatBytes(model.memory_bytes)} />
          <Fact label={t("Tokens/s")} value={speedOf(model)} />
        </dl>
        <Actions model={model} />
        {pull?.state === "failed" && (
          <Text size="xs" c="var(--mantine-color-error)" role="alert" className="wrap-anywhere">
            {pull.error_message}
          </Text>
        )}
      </Stack>
    </Card>
  );
}

function FitBadge({ isPulled, fits }: { isPulled: boolean; fits: boolean }) {
  if (isPulled) {
    return (
      <Badge variant="light" tt="none" style={{ flexShrink: 0 }}>
        {t("Installed")}
      </Badge>
    );
  }
  return (
    <Badge variant="dot" color={fits ? "teal" : "orange"} tt="none" fw={500} style={{ flexShrink: 0 }}>
      {fits ? t("Fits") : t("Needs more memory")}
    </Badge>
  );
}

function speedOf({ tokens_per_second: speed, is_measured: isMeasured }: LibraryModel): string {
  return speed === null ? "—" : `${isMeasured ? "" : "~"}${formatNumber(speed < 10 ? speed : Math.round(speed))}`;
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function Actions({ model: { id, task, is_pulled: isPulled, pull } }: { model: LibraryModel }) {
  const navigate = useNavigate();
  const changes = [libraryQuery.queryKey];
  const start = useSave({ save: () => startPull(id), changes });
  const cancel = useSave({ save: () => request(pullPath(id), { method: "DELETE" }), changes });
  if (pull?.state === "running") {
    return <RunningPull id={id} pull={pull} onCancel={() => cancel.mutate()} isCancelling={cancel.isPending} />;
  }
  if (!isPulled) {
    return (
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={15} />}
        loading={start.isPending}
        onClick={() => start.mutate()}
      >
        {pull === null ? t("Pull") : t("Resume")}
      </Button>
    );
  }
  const { page, icon: Icon } = PLACES[task];
  const tryIt = () => {
    if (task !== "chat") return navigate({ to: page, search: { model: id } as never });
    const conversation = newConversation([id]);
    chatStore.add(conversation);
    return navigate({ to: page, search: { c: conversation.id } as never });
  };
  return (
    <Button size="xs" leftSection={<Icon size={15} />} onClick={() => void tryIt()}>
      {t("Try it")}
    </Button>
  );
}

/** Where a model of a task is tried. */
const PLACES = {
  chat: { page: "/chat", icon: IconMessage },
  speech: { page: "/speech", icon: IconVolume },
  transcription: { page: "/transcription", icon: IconMicrophone },
  moderation: { page: "/moderation", icon: IconShieldCheck },
  embedding: { page: "/embeddings", icon: IconVectorTriangle },
  image: { page: "/images", icon: IconPhoto },
} as const;

interface RunningPullProps {
  id: string;
  pull: Pull;
  onCancel: () => void;
  isCancelling: boolean;
}

function RunningPull({ id, pull, onCancel, isCancelling }: RunningPullProps) {
  const { received_bytes: received, total_bytes: total, file } = pull;
  return (
    <div>
      <Group gap={6} wrap="nowrap">
        <Progress
          flex={1}
          value={total === null ? 100 : (100 * received) / Math.max(1, total)}
          animated={total === null}
          aria-label={t("Download of {{model}}", { model: id })}
        />
        <Button
          size="compact-xs"
          variant="subtle"
          color="gray"
          loading={isCancelling}
          onClick={onCancel}
          aria-label={t("Cancel the pull of {{model}}", { model: id })}
        >
          <IconX size={14} />
        </Button>
      </Group>
      <Text size="xs" c="dimmed" className="tabular wrap-anywhere" role="status">
        {formatReceived(received, total)}
        {file !== null && ` · ${file}`}
      </Text>
    </div>
  );
}
