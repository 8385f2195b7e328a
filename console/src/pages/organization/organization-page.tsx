import { Card, Stack, Tabs, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { SpendForm } from "../../components/spend-form.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { t } from "../../i18n/translate.ts";
import { DataRetentionCard } from "../projects/data-retention-card.tsx";
import { PermissionsForm } from "../projects/permissions-form.tsx";
import { AdminKeys } from "./admin-keys.tsx";

const ORGANIZATION = "v1/organization";

export function OrganizationPage() {
  const { organization, project } = useSession();
  const [{ tab }, setAddress] = useAddressState({ tab: "keys" });
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  return (
    <Page title={organization.name} description={t("Settings for all projects.")}>
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "keys" })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">{t("Admin keys")}</Tabs.Tab>
          <Tabs.Tab value="spend">{t("Spend limit")}</Tabs.Tab>
          <Tabs.Tab value="models">{t("Models")}</Tabs.Tab>
          <Tabs.Tab value="retention">{t("Data retention")}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys">
          <AdminKeys />
        </Tabs.Panel>
        <Tabs.Panel value="spend">
          <Card maw={640}>
            <Title order={2}>{t("Spend of all projects")}</Title>
            <SpendForm owner={ORGANIZATION} name={t("The organization")} />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="models">
          <Card maw={640}>
            <PermissionsForm owner={ORGANIZATION} kind="organization" models={models.data?.map(({ id }) => id) ?? []} />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="retention">
          <Stack maw={640}>
            <DataRetentionCard path={`${ORGANIZATION}/data_retention`} />
          </Stack>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
