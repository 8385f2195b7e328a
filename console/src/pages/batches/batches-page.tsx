import "./batches.css";
import { Button, Card, Group, Stack } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Page as ListPage, request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { t } from "../../i18n/translate.ts";
import { IconPlus, IconStack } from "../../icons.tsx";
import { BatchCard } from "./batch-card.tsx";
import { BATCHES, type Batch, hasEnded } from "./batches-api.ts";
import { NewBatch } from "./new-batch.tsx";

const RUNNING_MS = 1000;
const IDLE_MS = 10_000;
const PAGE_SIZE = 25;

export function BatchesPage() {
  const { project } = useSession();
  const [isCreating, setIsCreating] = useState(false);
  const query = useInfiniteQuery({
    queryKey: ["batches"],
    enabled: project !== null,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<ListPage<Batch>>(BATCHES, { query: { limit: PAGE_SIZE, after: pageParam }, signal }),
    getNextPageParam: ({ has_more: hasMore, last_id: last }) => (hasMore ? (last ?? undefined) : undefined),
    refetchInterval: ({ state }) =>
      state.data?.pages.some(({ data }) => data.some((batch) => !hasEnded(batch))) === true ? RUNNING_MS : IDLE_MS,
  });
  if (project === null) return <NeedsProjectKey />;
  const batches = query.data?.pages.flatMap(({ data }) => data);
  return (
    <Page
      title={t("Batches")}
      description={t("Files of requests that run with spare capacity, with their results in one file.")}
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={() => setIsCreating(true)}>
          {t("New batch")}
        </Button>
      }
    >
      {batches === undefined && query.error === null && <PageLoading shape="cards" />}
      {batches === undefined && query.error !== null && (
        <PageError error={query.error} reset={() => void query.refetch()} />
      )}
      {batches?.length === 0 && (
        <Card>
          <Empty icon={<IconStack />} title={t("No batches yet")}>
            {t(
              "Thousands of requests in one file: label a data set, embed an archive, run an evaluation. Progress, errors and results appear here.",
            )}
          </Empty>
        </Card>
      )}
      <Stack gap="sm">
        {batches?.map((batch) => (
          <BatchCard key={batch.id} batch={batch} />
        ))}
      </Stack>
      {query.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t("Show older batches")}
          </Button>
        </Group>
      )}
      {isCreating && <NewBatch onClose={() => setIsCreating(false)} />}
    </Page>
  );
}
