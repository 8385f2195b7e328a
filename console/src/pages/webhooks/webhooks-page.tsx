import { t } from "../../i18n/translate.ts";
import "./webhooks.css";
import { Button, Card, Group, Select, SimpleGrid, Title } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { may, useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { IconPlus, IconWebhook } from "../../icons.tsx";
import { entriesQuery } from "../connections/connections-api.ts";
import { DeliveryList } from "./delivery-list.tsx";
import { EndpointCard } from "./endpoint-card.tsx";
import { NewEndpoint } from "./new-endpoint.tsx";
import { deliveriesQuery, type EndpointSetting, saveEndpoints, webhooksQuery } from "./webhooks-api.ts";

/** Endpoints of webhooks and what was sent to them, for administrators of the installation. */
export function WebhooksPage() {
  const session = useSession();
  const query = useQuery(webhooksQuery);
  const entries = useQuery(entriesQuery);
  const [{ url, state }, setAddress] = useAddressState({ url: "", state: "" });
  const deliveries = useInfiniteQuery(deliveriesQuery({ url, state }));
  const [isAdding, setIsAdding] = useState(false);
  const settings = (entries.data ?? []).filter(({ kind, name }) => kind === "setting" && name === "webhooks");
  const isLocked = settings.some(({ source }) => source === "file");
  const ofApi = settings.find(({ source }) => source === "api");
  const existing = (ofApi?.value ?? []) as EndpointSetting[];
  const mayChange = may(session, "organization.configuration.write");
  return (
    <Page
      title={t("Webhooks")}
      description={t("Events that Parlance sends to your systems, signed as in the Standard Webhooks specification.")}
      actions={
        mayChange &&
        !isLocked && (
          <Button
            leftSection={<IconPlus size={16} />}
            disabled={entries.data === undefined}
            onClick={() => setIsAdding(true)}
          >
            {t("New endpoint")}
          </Button>
        )
      }
    >
      <QueryView query={query} loading="cards">
        {(webhooks) =>
          webhooks.length === 0 ? (
            <Card>
              <Empty icon={<IconWebhook />} title={t("No endpoints yet")}>
                {t(
                  "Add the address of a system that wants to know when a batch ends, a budget is reached, a key is created or a deployment fails. Its deliveries appear here, with the answers.",
                )}
              </Empty>
            </Card>
          ) : (
            <>
              <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="sm">
                {webhooks.map((webhook) => (
                  <EndpointCard
                    key={webhook.id}
                    webhook={webhook}
                    isLocked={isLocked}
                    mayChange={mayChange}
                    onRemove={() => saveEndpoints(existing.filter((each) => each.url !== webhook.url))}
                  />
                ))}
              </SimpleGrid>
              <Card padding={0}>
                <Group p="md" justify="space-between" gap="sm">
                  <Title order={2}>{t("Latest deliveries")}</Title>
                  <Group gap="xs">
                    <Select
                      size="xs"
                      aria-label={t("Endpoint")}
                      placeholder={t("All endpoints")}
                      clearable
                      w={220}
                      data={webhooks.map((each) => each.url)}
                      value={url === "" ? null : url}
                      onChange={(next) => setAddress({ url: next ?? "" })}
                    />
                    <Select
                      size="xs"
                      aria-label={t("State")}
                      placeholder={t("All states")}
                      clearable
                      w={130}
                      data={[
                        { value: "delivered", label: t("Delivered") },
                        { value: "retrying", label: t("Retrying") },
                        { value: "failed", label: t("Failed") },
                      ]}
                      value={state === "" ? null : state}
                      onChange={(next) => setAddress({ state: next ?? "" })}
                    />
                  </Group>
                </Group>
                <QueryView query={deliveries} loading="rows">
                  {(shown) =>
                    shown.length === 0 ? (
                      <Empty icon={<IconWebhook />} title={t("No deliveries")}>
                        {t("Send a test to see one.")}
                      </Empty>
                    ) : (
                      <DeliveryList deliveries={shown} mayRetry={mayChange} />
                    )
                  }
                </QueryView>
                {deliveries.hasNextPage && (
                  <Group justify="center" p="sm">
                    <Button
                      variant="default"
                      size="xs"
                      loading={deliveries.isFetchingNextPage}
                      onClick={() => void deliveries.fetchNextPage()}
                    >
                      {t("Show older deliveries")}
                    </Button>
                  </Group>
                )}
              </Card>
            </>
          )
        }
      </QueryView>
      {isAdding && <NewEndpoint existing={existing} onClose={() => setIsAdding(false)} />}
    </Page>
  );
}
