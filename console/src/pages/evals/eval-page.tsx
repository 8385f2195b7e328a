import { Anchor, Badge, Card, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useSession } from "../../api/session.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { useAddressState } from "../../components/use-address-state.ts";
import { t } from "../../i18n/translate.ts";
import { IconChecklist } from "../../icons.tsx";
import { deleteEval, EVAL_QUERIES, type Eval, type EvalRun, evalQuery } from "./evals-api.ts";
import { NewRuns } from "./run-form.tsx";
import { RunTable } from "./run-table.tsx";
import { SideBySide } from "./side-by-side.tsx";

/** An eval: its runs, and the rows of some of them side by side. */
export function EvalPage() {
  const { eval: id } = useParams({ strict: false }) as { eval: string };
  const { project } = useSession();
  const query = useQuery({ ...evalQuery(id), enabled: project !== null });
  if (project === null) return <NeedsProjectKey />;
  return (
    <QueryView query={query} loading="page">
      {({ definition, runs }) => <EvalView definition={definition} runs={runs} project={project.id} />}
    </QueryView>
  );
}

interface EvalViewProps {
  definition: Eval;
  runs: readonly EvalRun[];
  project: string;
}

function EvalView({ definition, runs, project }: EvalViewProps) {
  const { id, name, testing_criteria: graders } = definition;
  const navigate = useNavigate();
  // A run's `report_url` names it alone.
  const [address, setAddress] = useAddressState({ run: "", runs: "" });
  const chosen = [address.run, ...address.runs.split(",")].filter((each) => each !== "");
  const shown = chosen.length > 0 ? runs.filter((run) => chosen.includes(run.id)) : latestRuns(runs);
  const show = (ids: readonly string[]) => setAddress({ run: "", runs: ids.join(",") });
  return (
    <Page
      title={name}
      description={
        <Group component="span" gap={6}>
          <Anchor component={Link} to="/evals" size="sm">
            {t("Evals")}
          </Anchor>
          {graders.map((grader) => (
            <Badge
              key={grader.name}
              component="span"
              variant="light"
              color="gray"
              tt="none"
              c="var(--mantine-color-text)"
            >
              {grader.name}: {grader.type.replace("_", " ")}
            </Badge>
          ))}
        </Group>
      }
      actions={
        <>
          <ConfirmButton
            variant="default"
            size="sm"
            question={t("Delete the eval {{name}}?", { name })}
            consequence={t("Its runs and their results are deleted, too.")}
            onConfirm={async () => {
              await deleteEval(id);
              await navigate({ to: "/evals" });
            }}
            changes={EVAL_QUERIES}
          >
            {t("Delete")}
          </ConfirmButton>
          <NewRuns
            evalId={id}
            project={project}
            before={runs[0]?.data_source}
            onStarted={(started) => show(started.map((run) => run.id))}
          />
        </>
      }
    >
      {runs.length === 0 ? (
        <Card>
          <Empty icon={<IconChecklist />} title={t("No runs yet")}>
            {t(
              "A run asks a model, or a version of a prompt, for each row, and grades the answers. Choose several to compare them.",
            )}
          </Empty>
        </Card>
      ) : (
        <>
          <RunTable runs={runs} shown={shown} show={show} />
          <SideBySide runs={shown.toReversed()} />
        </>
      )}
    </Page>
  );
}

/** The newest run, with those that were started together with it. */
function latestRuns(runs: readonly EvalRun[]): readonly EvalRun[] {
  const [latest] = runs;
  if (latest?.comparison_id == null) return runs.slice(0, 1);
  return runs.filter((run) => run.comparison_id === latest.comparison_id);
}
