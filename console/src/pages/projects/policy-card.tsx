import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { request } from "../../api/request.ts";
import { QueryView } from "../../components/query-view.tsx";
import { SectionCard } from "../../components/section-card.tsx";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";

interface PolicyCardProps<Policy, Body> {
  /** Where the policy is retrieved and updated. */
  path: string;
  title: string;
  about: string;
  children: (policy: Policy, controls: { change: (body: Body) => void; isSaving: boolean }) => ReactNode;
}

/** A policy of a project or an organization, of which each change is saved at once. */
export function PolicyCard<Policy, Body>({ path, title, about, children }: PolicyCardProps<Policy, Body>) {
  const queryKey = ["policy", path];
  const query = useQuery({ queryKey, queryFn: ({ signal }) => request<Policy>(path, { signal }) });
  const save = useSave({
    save: (body: Body) => request(path, { method: "POST", body }),
    done: () => t("{{name}}: saved", { name: title }),
    changes: [queryKey],
  });
  return (
    <SectionCard title={title} about={about}>
      <QueryView query={query}>
        {(policy) => children(policy, { change: save.mutate, isSaving: save.isPending })}
      </QueryView>
    </SectionCard>
  );
}
