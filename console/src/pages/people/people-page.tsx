import { Tabs } from "@mantine/core";
import { may, useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { t } from "../../i18n/translate.ts";
import { FirstOwner } from "./first-owner.tsx";
import { GroupsTab } from "./groups-tab.tsx";
import { NewInvite } from "./new-invite.tsx";
import { RolesTab } from "./roles-tab.tsx";
import { InviteTable, UserTable } from "./user-tables.tsx";

/** Users and invites of the organization. */
export function PeoplePage() {
  const session = useSession();
  const [{ tab }, setAddress] = useAddressState({ tab: "users" });
  return (
    <Page
      title={t("People")}
      description={t("Who signs in, who is invited, and what groups and roles allow.")}
      actions={may(session, "organization.users.write") && <NewInvite />}
    >
      {session.needs_owner && <FirstOwner />}
      <Tabs value={tab} onChange={(next) => setAddress({ tab: next ?? "users" })} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="users">{t("Users")}</Tabs.Tab>
          <Tabs.Tab value="invites">{t("Invites")}</Tabs.Tab>
          {may(session, "organization.groups.read") && <Tabs.Tab value="groups">{t("Groups")}</Tabs.Tab>}
          {may(session, "organization.roles.read") && <Tabs.Tab value="roles">{t("Roles")}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="users">
          <UserTable />
        </Tabs.Panel>
        <Tabs.Panel value="invites">
          <InviteTable />
        </Tabs.Panel>
        <Tabs.Panel value="groups">
          <GroupsTab />
        </Tabs.Panel>
        <Tabs.Panel value="roles">
          <RolesTab />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
