import { Autocomplete, Group, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { modelsQuery } from "../../api/models.ts";
import { listAll } from "../../api/request.ts";
import { may, useSession } from "../../api/session.ts";
import { formatCost, formatSeconds } from "../../components/format.ts";
import { IconSearch } from "../../icons.tsx";
import { pathOf, projectsQuery } from "../projects/projects-api.ts";
import { type FilterState, RANGES } from "./request-filters.ts";

const SLOWER = [500, 1000, 5000, 30_000].map((ms) => ({
  value: String(ms),
  label: `Slower than ${formatSeconds(ms / 1000)}`,
}));
const COSTLIER = [0.001, 0.01, 0.1, 1].map((usd) => ({ value: String(usd), label: `Above ${formatCost(usd)}` }));
const OUTCOMES = [
  { value: "all", label: "All" },
  { value: "succeeded", label: "Succeeded" },
  { value: "failed", label: "Failed" },
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
  return (
    <Group gap="xs" className="filter-bar">
      {mayReadContent && <WordsField value={filters.words} onChange={(words) => change({ words })} />}
      <Select
        aria-label="Time range"
        w={158}
        size="xs"
        allowDeselect={false}
        data={RANGES.map(({ value, label }) => ({ value, label }))}
        value={filters.range}
        onChange={(range) => change({ range: range ?? "24h", from: "", to: "" })}
      />
      <SegmentedControl
        size="xs"
        aria-label="Outcome"
        value={filters.status}
        onChange={(status) => change({ status })}
        data={OUTCOMES}
      />
      <ModelField
        value={filters.model}
        names={models.data?.map(({ id }) => id) ?? []}
        onChange={(model) => change({ model })}
      />
      <Select
        aria-label="Duration"
        placeholder="Any duration"
        w={158}
        size="xs"
        clearable
        data={SLOWER}
        value={filters.slower || null}
        onChange={(slower) => change({ slower: slower ?? "" })}
      />
      <Select
        aria-label="Cost"
        placeholder="Any cost"
        w={134}
        size="xs"
        clearable
        data={COSTLIER}
        value={filters.costlier || null}
        onChange={(costlier) => change({ costlier: costlier ?? "" })}
      />
      {isAdmin && (
        <Select
          aria-label="Project"
          placeholder="All projects"
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
          aria-label="Key"
          placeholder="All keys"
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
    </Group>
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
        aria-label="Search prompts and answers"
        placeholder="Search prompts and answers"
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

/** Takes any name, since requests may name models that do not exist. */
function ModelField({ value, names, onChange }: { value: string; names: string[]; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const submit = useDebouncedCallback(onChange, TYPING_MS);
  useEffect(() => setText(value), [value]);
  return (
    <Autocomplete
      aria-label="Model"
      placeholder="Any model"
      w={190}
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
