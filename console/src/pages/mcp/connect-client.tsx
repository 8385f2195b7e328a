import { CodeTabs } from "../../components/code-tabs.tsx";
import { SectionCard } from "../../components/section-card.tsx";
import { t } from "../../i18n/translate.ts";
import { clientCode } from "./client-code.ts";

/** Code that connects MCP clients to all servers, or to one. */
export function ConnectClient({ server }: { server?: string }) {
  return (
    <SectionCard
      title={t("Connect a client")}
      about={
        server === undefined
          ? t(
              "One address has the tools of all servers that the project may use, such as {{tool}}. The key is one of a project; servers never see it.",
              { tool: "wiki__search" },
            )
          : t(
              "This address has the tools of this server, by their plain names. The key is one of a project; servers never see it.",
            )
      }
    >
      <CodeTabs tabs={clientCode(server)} />
    </SectionCard>
  );
}
