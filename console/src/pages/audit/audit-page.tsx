import { Button, Card, Code, Group, Table, Text } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { type Page as ListPage, request } from "../../api/request.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatDateTime } from "../../components/format.ts";
import { Page } from "../../components/page.tsx";
import { PageError } from "../../components/page-error.tsx";
import { PageLoading } from "../../components/page-loading.tsx";
import { VirtualBody } from "../../components/virtual-body.tsx";
import { t } from "../../i18n/translate.ts";
import { IconShieldCheck } from "../../icons.tsx";

type AuditEvent = Answers["AuditLog"];

export function AuditPage() {
  const query = useInfiniteQuery({
    queryKey: ["audit"],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      request<ListPage<AuditEvent>>("v1/organization/audit_logs", { query: { limit: 50, after: pageParam }, signal }),
    getNextPageParam: ({ has_more, last_id }) => (has_more ? (last_id ?? undefined) : undefined),
  });
  const events = query.data?.pages.flatMap(({ data }) => data) ?? [];
  return (
    <Page title={t("Audit log")} description={t("Who changed what, from where. Newest first.")}>
      {query.error !== null && <PageError error={query.error} reset={() => void query.refetch()} />}
      {query.isPending && <PageLoading shape="table" />}
      {query.data !== undefined && (
        <Card padding={0}>
          {events.length === 0 ? (
            <Empty icon={<IconShieldCheck />} title={t("Nothing has been changed yet")} />
          ) : (
            <Table.ScrollContainer minWidth={720} tabIndex={0}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>{t("Time")}</Table.Th>
                    <Table.Th>{t("Event")}</Table.Th>
                    <Table.Th>{t("Actor")}</Table.Th>
                    <Table.Th>{t("Details")}</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <VirtualBody rows={events} columns={4} rowHeight={57} keyOf={({ id }) => id}>
                  {(event) => (
                    <>
                      <Table.Td className="nowrap" title={formatDateTime(event.effective_at)}>
                        {formatAgo(event.effective_at)}
                      </Table.Td>
                      <Table.Td>
                        <Text size="sm" fw={500}>
                          {event.type}
                        </Text>
                        <Text size="xs" c="dimmed">
                          {event.project?.name}
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <Text size="sm">{actorName(event)}</Text>
                        <Text size="xs" c="dimmed">
                          {event.actor.session?.ip_address}
                        </Text>
                      </Table.Td>
                      <Table.Td maw={360}>
                        <Code className="wrap-anywhere">{JSON.stringify(event[event.type as keyof AuditEvent])}</Code>
                      </Table.Td>
                    </>
                  )}
                </VirtualBody>
              </Table>
            </Table.ScrollContainer>
          )}
        </Card>
      )}
      {query.hasNextPage && (
        <Group justify="center">
          <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            {t("Show older events")}
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** Address of the user, or else the key. */
function actorName({ actor: { api_key: key, session } }: AuditEvent): string {
  const user = key?.user ?? session?.user;
  return user?.email ?? key?.id ?? (user === undefined || user.id === "operator" ? t("Operator") : user.id);
}
