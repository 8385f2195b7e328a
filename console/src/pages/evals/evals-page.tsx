import { Button, Card, Group, Modal, Stack, Table, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { modelsQuery } from "../../api/models.ts";
import { mayInProject, useSession } from "../../api/session.ts";
import { Empty } from "../../components/empty.tsx";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatAgo } from "../../components/format.ts";
import { NeedsProjectKey } from "../../components/needs-project-key.tsx";
import { Page } from "../../components/page.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { IconChecklist, IconPlus } from "../../icons.tsx";
import { createEval, type Eval, evalsQuery, refreshEvals } from "./evals-api.ts";
import { newGrader, toGrader } from "./grader-draft.ts";
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
      <QueryView query={query} loading="table">
        {(evals) => (
          <Card padding={0}>
            {evals.length === 0 ? (
              <Empty icon={<IconChecklist />} title={t("No evals yet")}>
                {t(
                  "An eval has graders. Its runs ask models for each row of a file, of recorded requests or of stored answers, and grade the answers.",
                )}
              </Empty>
            ) : (
              <EvalTable evals={evals} />
            )}
          </Card>
        )}
      </QueryView>
    </Page>
  );
}

function EvalTable({ evals }: { evals: readonly Eval[] }) {
  return (
    <Table.ScrollContainer minWidth={480} tabIndex={0}>
      <Table highlightOnHover>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Name")}</Table.Th>
            <Table.Th>{t("Graders")}</Table.Th>
            <Table.Th>{t("Created")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {evals.map(({ id, name, testing_criteria: graders, created_at: time }) => (
            <Table.Tr key={id}>
              <Table.Td className="wrap-anywhere">
                <Link to="/evals/$eval" params={{ eval: id }} className="link">
                  {name}
                </Link>
              </Table.Td>
              <Table.Td className="wrap-anywhere">
                <Text size="sm">{graders.map((grader) => grader.name).join(", ")}</Text>
              </Table.Td>
              <Table.Td className="nowrap">{formatAgo(time)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function NewEval() {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button leftSection={<IconPlus size={16} />} onClick={open}>
        {t("New eval")}
      </Button>
      <Modal opened={isOpen} onClose={close} title={t("New eval")} size="lg">
        <EvalForm />
      </Modal>
    </>
  );
}

function EvalForm() {
  const [name, setName] = useState("");
  const [graders, setGraders] = useState(() => [newGrader(1)]);
  const models = useQuery(modelsQuery);
  const client = useQueryClient();
  const navigate = useNavigate();
  const create = useMutation({
    mutationFn: () => createEval(name.trim(), graders.map(toGrader)),
    onSuccess: async ({ id }) => {
      await refreshEvals(client);
      await navigate({ to: "/evals/$eval", params: { eval: id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  const chatModels = models.data?.filter(({ metadata }) => metadata.task === "chat").map(({ id }) => id) ?? [];
  return (
    <form onSubmit={submit}>
      <Stack>
        <TextInput
          label={t("Name")}
          placeholder={t("Capitals")}
          required
          data-autofocus
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        {graders.map((grader, index) => (
          <GraderFields
            key={grader.key}
            grader={grader}
            models={chatModels}
            onChange={(next) => setGraders(graders.with(index, next))}
            remove={graders.length === 1 ? undefined : () => setGraders(graders.toSpliced(index, 1))}
          />
        ))}
        <Text size="xs" c="dimmed">
          {t(
            "{{field}} stands for a field of the row, {{answer}} for the answer. A row passes when all graders pass it.",
            {
              field: "{{item.…}}",
              answer: "{{sample.output_text}}",
            },
          )}
        </Text>
        <ErrorAlert error={create.error} />
        <Group justify="space-between">
          <Button
            variant="default"
            leftSection={<IconPlus size={14} />}
            onClick={() => setGraders([...graders, newGrader(graders.length + 1)])}
          >
            {t("Add a grader")}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t("Create eval")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
