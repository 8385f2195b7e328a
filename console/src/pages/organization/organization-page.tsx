import { Card, Tabs, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/models.ts";
import { useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { SpendForm } from "../../components/spend-form.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { PermissionsForm } from "../projects/permissions-form.tsx";
import { AdminKeys } from "./admin-keys.tsx";

const ORGANIZATION = "v1/organization";

export function OrganizationPage() {
  const { organization, project } = useSession();
  const [{ tab }, setAddress] = useAddressState({ tab: "keys" });
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  return (
    <Page title={organization.name} description="Settings for all projects.">
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "keys" })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">Admin keys</Tabs.Tab>
          <Tabs.Tab value="spend">Spend limit</Tabs.Tab>
          <Tabs.Tab value="models">Models</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys">
          <AdminKeys />
        </Tabs.Panel>
        <Tabs.Panel value="spend">
          <Card maw={640}>
            <Title order={2}>Spend of all projects</Title>
            <SpendForm owner={ORGANIZATION} name="The organization" />
          </Card>
        </Tabs.Panel>
        <Tabs.Panel value="models">
          <Card maw={640}>
            <PermissionsForm
              owner={ORGANIZATION}
              name="the organization"
              models={models.data?.map(({ id }) => id) ?? []}
            />
          </Card>
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
