import { Card } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { PermissionsForm } from "./permissions-form.tsx";
import { pathOf, rateLimitsQuery } from "./projects-api.ts";

export function ModelsTab({ project }: { project: string }) {
  const limits = useQuery(rateLimitsQuery(project));
  const models = limits.data?.map(({ model }) => model) ?? [];
  return (
    <Card maw={640}>
      <PermissionsForm owner={pathOf(project)} kind="project" models={models} />
    </Card>
  );
}
