import { plural, t } from "../../i18n/translate.ts";
import "./stores.css";
import { Button, Card, Group, Stack, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { CopyButton } from "../../components/copy-button.tsx";
import { formatAgo, formatBytes, formatUntil } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { StoreFiles } from "./store-files.tsx";
import { StoreForm } from "./store-form.tsx";
import { StoreSearch } from "./store-search.tsx";
import { StoreStatus } from "./store-status.tsx";
import { StoreUpload } from "./store-upload.tsx";
import { deleteStore, type Store, storeQuery, storesQuery } from "./stores-api.ts";

/** One vector store: its files, and a search in them. */
export function StorePage() {
  const { project } = useSession();
  const { store: id } = useParams({ strict: false }) as { store: string };
  const query = useQuery({ ...storeQuery(id), enabled: project !== null });
  if (project === null) return <NeedsProjectKey />;
  return (
    <QueryView query={query} loading="page">
      {(store) => <StoreView store={store} />}
    </QueryView>
  );
}

function StoreView({ store }: { store: Store }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isChanging, setIsChanging] = useState(false);
  const { id, name, status, file_counts: counts, usage_bytes: bytes, embedding_model, expires_at } = store;
  const facts = [
    plural(counts.total, "{{count}} file", "{{count}} files"),
    formatBytes(bytes),
    embedding_model,
    store.last_active_at === null ? undefined : t("used {{time}}", { time: formatAgo(store.last_active_at) }),
    expires_at === null ? undefined : t("expires {{time}}", { time: formatUntil(expires_at) }),
  ].filter((fact) => fact !== undefined);
  return (
    <Page
      title={name || t("Unnamed store")}
      description={facts.join(", ")}
      actions={
        <>
          <Button variant="default" onClick={() => setIsChanging(true)}>
            {t("Settings")}
          </Button>
          <ConfirmButton
            size="sm"
            question={t("Delete {{name}}?", { name: name || t("Unnamed store") })}
            consequence={t(
              "Its chunks and vectors are removed, and requests that search it fail. The files stay under Files.",
            )}
            onConfirm={async () => {
              await deleteStore(id);
              await navigate({ to: "/stores" });
              await client.invalidateQueries({ queryKey: storesQuery.queryKey });
            }}
          >
            {t("Delete")}
          </ConfirmButton>
        </>
      }
    >
      <Group gap="xs">
        <StoreStatus status={status} />
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" ff="monospace" className="wrap-anywhere">
            {id}
          </Text>
          <CopyButton text={id} label={t("Copy the ID of the store")} />
        </Group>
      </Group>
      {status === "expired" ? (
        <Text size="sm">{t("The store was not used for long enough to expire. Its chunks are removed.")}</Text>
      ) : (
        <StoreSearch store={id} />
      )}
      <Stack gap="sm">
        <Title order={2} size="h4">
          {t("Files")}
        </Title>
        {status !== "expired" && <StoreUpload store={id} />}
        <Card padding={0}>
          <StoreFiles store={id} />
        </Card>
      </Stack>
      {isChanging && <StoreForm store={store} onClose={() => setIsChanging(false)} />}
    </Page>
  );
}
