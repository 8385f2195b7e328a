import { Select, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { may, useSession } from "../../api/session.ts";
import { useEntries } from "../../api/use-entries.ts";
import { Empty } from "../../components/empty.tsx";
import { FilterBar } from "../../components/filter-bar.tsx";
import { formatAgo, formatDateTime } from "../../components/format.ts";
import { JsonBlock } from "../../components/json-block.tsx";
import { Page } from "../../components/page.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { IconShieldCheck } from "../../icons.tsx";
import { useNames } from "../people/use-names.ts";
import { projectsQuery } from "../projects/projects-api.ts";
import { AUDIT_TYPES, type AuditEvent, namesIn, sentenceOf, subjectOf } from "./audit-sentence.ts";

/** What events are about, by the beginnings of their types. */
const SUBJECTS: readonly { value: string; label: Message; prefixes: readonly string[] }[] = [
  { value: "people", label: msg("People and invites"), prefixes: ["user.", "invite.", "group."] },
  { value: "sign-ins", label: msg("Sign-ins"), prefixes: ["login.", "logout."] },
  { value: "roles", label: msg("Roles"), prefixes: ["role."] },
  { value: "keys", label: msg("Keys"), prefixes: ["api_key.", "service_account."] },
  { value: "projects", label: msg("Projects and organization"), prefixes: ["project.", "organization."] },
  { value: "limits", label: msg("Budgets and rate limits"), prefixes: ["budget.", "rate_limit."] },
  { value: "models", label: msg("Models and configuration"), prefixes: ["model.", "configuration.", "cache."] },
  { value: "content", label: msg("Recorded content"), prefixes: ["request.content.", "guardrail."] },
  { value: "work", label: msg("Prompts, evals and MCP"), prefixes: ["prompt.", "eval.", "mcp_connection."] },
];

const DEFAULTS = { what: "", project: "", who: "" };

/** Who changed what, as sentences. */
export function AuditPage() {
  const [filters, setFilters] = useAddressState(DEFAULTS);
  const { what, project, who } = filters;
  const prefixes = SUBJECTS.find(({ value }) => value === what)?.prefixes;
  const { query, entries } = useEntries<AuditEvent>(["audit"], "v1/organization/audit_logs", {
    event_types: prefixes && AUDIT_TYPES.filter((type) => prefixes.some((prefix) => type.startsWith(prefix))),
    project_ids: project,
    actor_ids: who,
  });
  const listed = useNames();
  const names = useMemo(() => new Map([...namesIn(entries ?? []), ...listed]), [listed, entries]);
  const isFiltered = what !== "" || project !== "" || who !== "";
  return (
    <Page title={t("Audit log")} description={t("Who changed what, from where. Newest first.")}>
      <Filters filters={filters} onChange={setFilters} />
      <ResourceTable
        query={query}
        rows={entries}
        keyOf={({ id }) => id}
        rowHeight={57}
        minWidth={640}
        empty={
          <Empty
            icon={<IconShieldCheck />}
            title={isFiltered ? t("No event matches these filters") : t("Nothing has been changed yet")}
          />
        }
        columns={[
          {
            label: t("Time"),
            className: "nowrap cell-top",
            hint: ({ effective_at: time }) => formatDateTime(time),
            cell: ({ effective_at: time }) => formatAgo(time),
          },
          { label: t("What happened"), cell: (event) => <Sentence event={event} names={names} /> },
          {
            label: t("From"),
            className: "nowrap cell-top",
            cell: ({ actor }) => actor.session?.ip_address ?? "—",
          },
        ]}
      />
    </Page>
  );
}

function Sentence({ event, names }: { event: AuditEvent; names: ReadonlyMap<string, string> }) {
  return (
    <>
      <Text size="sm" fw={500} className="wrap-anywhere">
        {sentenceOf(event, names)}
      </Text>
      <Text size="xs" c="dimmed">
        {event.project?.name}
      </Text>
      <details className="audit-details">
        <summary>
          <Text span size="xs" c="dimmed">
            {event.type}
          </Text>
        </summary>
        <JsonBlock text={JSON.stringify({ ...subjectOf(event), actor: event.actor })} label={t("Copy")} />
      </details>
    </>
  );
}

interface FiltersProps {
  filters: typeof DEFAULTS;
  onChange: (part: Partial<typeof DEFAULTS>) => void;
}

function Filters({ filters, onChange }: FiltersProps) {
  const session = useSession();
  const { data: projects = [] } = useQuery(projectsQuery(true));
  const users = useEntries<{ id: string; name: string }>(["users"], "v1/organization/users", {});
  return (
    <FilterBar>
      <Select
        aria-label={t("What it is about")}
        placeholder={t("All events")}
        clearable
        w={210}
        data={SUBJECTS.map(({ value, label }) => ({ value, label: t(label) }))}
        value={filters.what || null}
        onChange={(what) => onChange({ what: what ?? "" })}
      />
      {may(session, "organization.users.read") && (
        <Select
          aria-label={t("Who")}
          placeholder={t("Everybody")}
          clearable
          searchable
          w={200}
          data={(users.entries ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={filters.who || null}
          onChange={(who) => onChange({ who: who ?? "" })}
        />
      )}
      <Select
        aria-label={t("Project")}
        placeholder={t("All projects")}
        clearable
        searchable
        w={200}
        data={projects.map(({ id, name }) => ({ value: id, label: name }))}
        value={filters.project || null}
        onChange={(project) => onChange({ project: project ?? "" })}
      />
    </FilterBar>
  );
}
