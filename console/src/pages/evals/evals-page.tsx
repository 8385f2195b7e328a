import { Button, Text, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { modelsQuery } from "../../api/models.ts";
import { mayInProject, useSession } from "../../api/session.ts";
import { DialogButton } from "../../components/dialog-button.tsx";
import { Empty } from "../../components/empty.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatAgo } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { ResourceTable } from "../../components/resource-table.tsx";
import { t } from "../../i18n/translate.ts";
import { IconChecklist, IconPlus } from "../../icons.tsx";
import { createEval, EVAL_QUERIES, type Eval, evalsQuery } from "./evals-api.ts";
import { type GraderDraft, newGrader, toGrader } from "./grader-draft.ts";
import { GraderFields } from "./grader-fields.tsx";

/** Evals of the session's project. */
export function EvalsPage() {
  const session = useSession();
  const { project } = session;
  const query = useQuery({ ...evalsQuery, enabled: project !== null });
  if (project === null) return <NeedsProjectKey />;
  return (
    <Page
      title={t("Evals")}
      description={t("Grade what models and prompts answer, and compare them row by row.")}
      actions={mayInProject(session, "project.inference") && <NewEval />}
    >
      <ResourceTable
        query={query}
        rows={query.data}
        keyOf={({ id }) => id}
        empty={
          <Empty icon={<IconChecklist />} title={t("No evals yet")}>
            {t(
              "An eval has graders. Its runs ask models for each row of a file, of recorded requests or of stored answers, and grade the answers.",
            )}
          </Empty>
        }
        columns={[
          {
            label: t("Name"),
            className: "wrap-anywhere",
            sortBy: ({ name }) => name,
            cell: ({ id, name }) => (
              <Link to="/evals/$eval" params={{ eval: id }} className="link">
                {name}
              </Link>
            ),
          },
          {
            label: t("Graders"),
            className: "wrap-anywhere",
            cell: ({ testing_criteria: graders }) => graders.map((grader) => grader.name).join(", "),
          },
          {
            label: t("Created"),
            className: "nowrap",
            sortBy: ({ created_at: time }) => time,
            cell: ({ created_at: time }) => formatAgo(time),
          },
        ]}
      />
    </Page>
  );
}

function NewEval() {
  return (
    <DialogButton label={t("New eval")} leftSection={<IconPlus size={16} />}>
      {(close) => <EvalDialog onClose={close} />}
    </DialogButton>
  );
}

function EvalDialog({ onClose }: { onClose: () => void }) {
  const models = useQuery(modelsQuery);
  const navigate = useNavigate();
  const chatModels = models.data?.filter(({ metadata }) => metadata.task === "chat").map(({ id }) => id) ?? [];
  return (
    <FormDialog<{ name: string; graders: GraderDraft[] }, Eval>
      title={t("New eval")}
      action={t("Create eval")}
      size="lg"
      onClose={onClose}
      initial={{ name: "", graders: [newGrader(1)] }}
      save={async ({ name, graders }) => createEval(name.trim(), graders.map(toGrader))}
      parameters={{ testing_criteria: "graders" }}
      changes={EVAL_QUERIES}
      onSaved={({ id }) => void navigate({ to: "/evals/$eval", params: { eval: id } })}
      aside={(form) => (
        <Button
          variant="default"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem("graders", newGrader(form.values.graders.length + 1))}
        >
          {t("Add a grader")}
        </Button>
      )}
    >
      {(form) => (
        <>
          <TextInput
            label={t("Name")}
            placeholder={t("Capitals")}
            required
            data-autofocus
            {...form.getInputProps("name")}
          />
          {form.values.graders.map((grader, index) => (
            <GraderFields
              key={grader.key}
              grader={grader}
              models={chatModels}
              onChange={(next) => form.replaceListItem("graders", index, next)}
              remove={form.values.graders.length === 1 ? undefined : () => form.removeListItem("graders", index)}
            />
          ))}
          {form.errors.graders && <ErrorAlert error={new Error(String(form.errors.graders))} />}
          <Text size="xs" c="dimmed">
            {t(
              "{{field}} stands for a field of the row, {{answer}} for the answer. A row passes when all graders pass it.",
              {
                field: "{{item.…}}",
                answer: "{{sample.output_text}}",
              },
            )}
          </Text>
        </>
      )}
    </FormDialog>
  );
}
