import { Anchor, Button, Card, Group, SimpleGrid, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { formatAgo, formatBytes, formatUntil } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { Trans } from "../../i18n/trans.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { IconDatabase, IconPlus } from "../../icons.tsx";
import { StoreForm } from "./store-form.tsx";
import { StoreStatus } from "./store-status.tsx";
import { type Store, storesQuery } from "./stores-api.ts";

/** Vector stores of the project: documents that models search. */
export function StoresPage() {
  const { project } = useSession();
  const navigate = useNavigate();
  const query = useQuery({ ...storesQuery, enabled: project !== null });
  const [isCreating, setIsCreating] = useState(false);
  if (project === null) return <NeedsProjectKey />;
  return (
    <Page
      title={t("Vector stores")}
      description={t("Documents of {{project}} that models search by meaning and by words.", { project: project.name })}
      actions={
        <Button leftSection={<IconPlus size={16} />} onClick={() => setIsCreating(true)}>
          {t("New store")}
        </Button>
      }
    >
      <QueryView query={query} loading="table">
        {(stores) =>
          stores.length === 0 ? (
            <Card>
              <Empty icon={<IconDatabase />} title={t("No vector stores yet")}>
                <Trans
                  text="Create a store, drop PDF, Office, HTML, Markdown or text files into it, and search them here or with the tool <code>file_search</code>."
                  tags={{ code: <code /> }}
                />
              </Empty>
            </Card>
          ) : (
            <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
              {stores.map((store) => (
                <StoreCard key={store.id} store={store} />
              ))}
            </SimpleGrid>
          )
        }
      </QueryView>
      {isCreating && (
        <StoreForm
          onClose={() => setIsCreating(false)}
          onSaved={({ id }) => void navigate({ to: "/stores/$store", params: { store: id } })}
        />
      )}
    </Page>
  );
}

function StoreCard({ store }: { store: Store }) {
  const { id, name, status, file_counts: counts, usage_bytes: bytes, embedding_model, expires_at } = store;
  return (
    <Card padding="md">
      <Group justify="space-between" wrap="nowrap" gap="xs" mb={6}>
        <Anchor component={Link} to="/stores/$store" params={{ store: id } as never} fw={600} className="wrap-anywhere">
          {name || t("Unnamed store")}
        </Anchor>
        <StoreStatus status={status} />
      </Group>
      <Text size="sm" className="tabular">
        {joined([
          plural(counts.total, "{{count}} file", "{{count}} files"),
          formatBytes(bytes),
          counts.failed > 0 && t("{{number}} failed", { number: counts.failed }),
        ])}
      </Text>
      <Text size="xs" c="dimmed" mt={4}>
        {joined([
          embedding_model,
          store.last_active_at !== null && t("used {{time}}", { time: formatAgo(store.last_active_at) }),
          expires_at !== null && t("expires {{time}}", { time: formatUntil(expires_at) }),
        ])}
      </Text>
    </Card>
  );
}

function joined(facts: readonly (string | false)[]): string {
  return facts.filter((fact) => fact !== false).join(", ");
}
