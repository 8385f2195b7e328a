import { Autocomplete, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { modelsQuery } from "../../api/models.ts";
import { listAll } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { FilterBar } from "../../components/filter-bar.tsx";
import { formatCost, formatSeconds } from "../../components/format.ts";
import { msg, t } from "../../i18n/translate.ts";
import { IconSearch } from "../../icons.tsx";
import { pathOf, projectsQuery } from "../projects/projects-api.ts";
import { type FilterState, RANGES } from "./request-filters.ts";

const SLOWER_MS = [500, 1000, 5000, 30_000];
const COSTLIER_USD = [0.001, 0.01, 0.1, 1];
const OUTCOMES = [
  { value: "all", label: msg("All") },
  { value: "succeeded", label: msg("Succeeded") },
  { value: "failed", label: msg("Failed") },
];

export function RequestFilterBar({ state: { filters, change } }: { state: FilterState }) {
  const session = useSession();
  const { is_admin: isAdmin, project } = session;
  const mayReadContent = may(session, "project.content.read", project?.id);
  const projects = useQuery({ ...projectsQuery(false), enabled: isAdmin });
  const models = useQuery({ ...modelsQuery, enabled: project !== null });
  const keys = useQuery({
    queryKey: ["keys", "names", filters.project],
    queryFn: ({ signal }) => listAll<{ id: string; name: string }>(`${pathOf(filters.project)}/api_keys`, {}, signal),
    enabled: isAdmin && filters.project !== "",
    staleTime: 60_000,
  });
  const more = (
    <>
      <NameField
        label={t("Model")}
        placeholder={t("Any model")}
        value={filters.model}
        names={models.data?.map(({ id }) => id) ?? []}
        onChange={(model) => change({ model })}
      />
      <NameField
        label={t("End user")}
        placeholder={t("Any end user")}
        value={filters.user}
        onChange={(user) => change({ user })}
      />
      <Select
        aria-label={t("Duration")}
        placeholder={t("Any duration")}
        w={158}
        size="xs"
        clearable
        data={SLOWER_MS.map((ms) => ({
          value: String(ms),
          label: t("Slower than {{time}}", { time: formatSeconds(ms / 1000) }),
        }))}
        value={filters.slower || null}
        onChange={(slower) => change({ slower: slower ?? "" })}
      />
      <Select
        aria-label={t("Cost")}
        placeholder={t("Any cost")}
        w={134}
        size="xs"
        clearable
        data={COSTLIER_USD.map((usd) => ({
          value: String(usd),
          label: t("Above {{cost}}", { cost: formatCost(usd) }),
        }))}
        value={filters.costlier || null}
        onChange={(costlier) => change({ costlier: costlier ?? "" })}
      />
      {isAdmin && (
        <Select
          aria-label={t("Project")}
          placeholder={t("All projects")}
          w={158}
          size="xs"
          searchable
          clearable
          data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={filters.project || null}
          onChange={(next) => change({ project: next ?? "", key: "" })}
        />
      )}
      {isAdmin && filters.project !== "" && (
        <Select
          aria-label={t("Key")}
          placeholder={t("All keys")}
          w={158}
          size="xs"
          searchable
          clearable
          limit={100}
          data={(keys.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={filters.key || null}
          onChange={(key) => change({ key: key ?? "" })}
        />
      )}
    </>
  );
  const moreCount = [
    filters.model,
    filters.user,
    filters.slower,
    filters.costlier,
    filters.project,
    filters.key,
  ].filter((value) => value !== "").length;
  return (
    <FilterBar more={more} moreCount={moreCount}>
      {mayReadContent && <WordsField value={filters.words} onChange={(words) => change({ words })} />}
      <SegmentedControl
        size="xs"
        aria-label={t("Outcome")}
        value={filters.status}
        onChange={(status) => change({ status })}
        data={OUTCOMES.map(({ value, label }) => ({ value, label: t(label) }))}
      />
      <Select
        aria-label={t("Time range")}
        w={158}
        size="xs"
        allowDeselect={false}
        data={RANGES.map(({ value, label }) => ({ value, label: t(label) }))}
        value={filters.range}
        onChange={(range) => change({ range: range ?? "24h", from: "", to: "" })}
      />
    </FilterBar>
  );
}

/** Searches when it is submitted, since the audit log has each search. */
function WordsField({ value, onChange }: { value: string; onChange: (words: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <TextInput
        aria-label={t("Search prompts and answers")}
        placeholder={t("Search prompts and answers")}
        w={230}
        size="xs"
        type="search"
        maxLength={1000}
        leftSection={<IconSearch size={14} />}
        value={text}
        onChange={(event) => {
          setText(event.currentTarget.value);
          if (event.currentTarget.value === "") onChange("");
        }}
      />
    </form>
  );
}

const TYPING_MS = 300;

interface NameFieldProps {
  label: string;
  placeholder: string;
  value: string;
  /** Names to choose from. */
  names?: string[];
  onChange: (value: string) => void;
}

/** Takes any name, since requests may name models that do not exist. */
function NameField({ label, placeholder, value, names = [], onChange }: NameFieldProps) {
  const [text, setText] = useState(value);
  const submit = useDebouncedCallback(onChange, TYPING_MS);
  useEffect(() => setText(value), [value]);
  return (
    <Autocomplete
      aria-label={label}
      placeholder={placeholder}
      w={170}
      size="xs"
      limit={50}
      clearable
      data={names}
      value={text}
      onChange={(next) => {
        setText(next);
        submit(next.trim());
      }}
    />
  );
}
