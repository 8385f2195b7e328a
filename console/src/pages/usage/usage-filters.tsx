import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSession } from "../../api/session.ts";
import { FilterBar } from "../../components/filter-bar.tsx";
import { t, translateLabels } from "../../i18n/translate.ts";
import { projectsQuery } from "../projects/projects-api.ts";
import { GROUPS, type Group as GroupBy } from "./groups.ts";
import {
  BY_INTERVAL,
  INTERVALS_OF,
  type Interval,
  RANGES,
  type Range,
  type UsageSelection,
  usedModelsQuery,
} from "./usage-query.ts";

interface UsageFiltersProps {
  selection: UsageSelection;
  onChange: (selection: UsageSelection) => void;
}

/** A project's own key may read neither other projects nor the names of keys. */
const NEEDS_ADMIN: readonly GroupBy[] = ["project_id", "api_key_id", "user_id"];

export function UsageFilters({ selection, onChange }: UsageFiltersProps) {
  const { is_admin } = useSession();
  const projects = useQuery({ ...projectsQuery(false), enabled: is_admin });
  const models = useQuery(usedModelsQuery(selection.range));
  const intervals = INTERVALS_OF[selection.range];
  const set = (part: Partial<UsageSelection>) => onChange({ ...selection, ...part });
  return (
    <FilterBar>
      <Select
        aria-label={t("Time range")}
        w={150}
        data={translateLabels(RANGES)}
        value={selection.range}
        allowDeselect={false}
        onChange={(value) => {
          const range = value as Range;
          set({ range, interval: INTERVALS_OF[range][0] });
        }}
      />
      {intervals.length > 1 && (
        <Select
          aria-label={t("Interval")}
          w={120}
          data={intervals.map((value) => ({
            value,
            label: t(BY_INTERVAL[value]),
          }))}
          value={selection.interval}
          allowDeselect={false}
          onChange={(value) => set({ interval: value as Interval })}
        />
      )}
      <Select
        aria-label={t("Group by")}
        w={140}
        data={translateLabels(GROUPS.filter(({ value }) => is_admin || !NEEDS_ADMIN.includes(value)))}
        value={selection.groupBy}
        allowDeselect={false}
        onChange={(value) => set({ groupBy: value as GroupBy })}
      />
      {is_admin && (
        <Select
          aria-label={t("Project")}
          placeholder={t("All projects")}
          w={180}
          searchable
          clearable
          data={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={selection.project}
          onChange={(project) => set({ project })}
        />
      )}
      <Select
        aria-label={t("Model")}
        placeholder={t("All models")}
        w={180}
        searchable
        clearable
        data={models.data ?? []}
        value={selection.model}
        onChange={(model) => set({ model })}
      />
    </FilterBar>
  );
}
