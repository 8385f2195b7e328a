import { useQuery } from "@tanstack/react-query";
import { may, useSession } from "../../api/session.ts";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { ConnectHost } from "./connect-host.tsx";
import { entriesQuery, versionsQuery } from "./connections-api.ts";
import { HostList } from "./host-list.tsx";
import { VersionHistory } from "./version-history.tsx";

/** Hosts, models and settings that can be changed while the service runs. */
export function ConnectionsPage() {
  const session = useSession();
  const mayChange = may(session, "organization.configuration.write");
  const entries = useQuery(entriesQuery);
  const versions = useQuery(versionsQuery);
  return (
    <Page
      title={t("Connections")}
      description={t(
        "Upstreams and models, in force on every replica within a second. What parlance.yaml says is locked.",
      )}
    >
      {mayChange && <ConnectHost />}
      <QueryView query={entries} loading="table">
        {(data) => <HostList entries={data} mayChange={mayChange} />}
      </QueryView>
      <QueryView query={versions}>{(data) => <VersionHistory versions={data} mayChange={mayChange} />}</QueryView>
    </Page>
  );
}
