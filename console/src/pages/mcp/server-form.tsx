import { Alert, Badge, Button, Group, JsonInput, Modal, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Answers } from "../../api/answers.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { formatMilliseconds } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { plural, t } from "../../i18n/translate.ts";
import { type ServerEntry, saveServer, testServer } from "./mcp-api.ts";
import { fieldOf, NEW_SERVER, type ServerDraft, toDraft, toValue } from "./server-draft.ts";

type Test = Answers["McpServerTest"];

interface ServerFormProps {
  /** Server to change; left out: a new one. */
  entry?: ServerEntry;
  close: () => void;
}

/** Adds or changes an MCP server of the API, which can be tested before it is saved. */
export function ServerForm({ entry, close }: ServerFormProps) {
  const [draft, setDraft] = useState(() => (entry === undefined ? NEW_SERVER : toDraft(entry.value as never)));
  const client = useQueryClient();
  const test = useMutation({ mutationFn: async () => testServer(toValue(draft)) });
  const save = useMutation({
    mutationFn: async () => saveServer(toValue(draft), entry),
    onSuccess: async () => {
      const { name } = draft;
      await client.invalidateQueries();
      notifyDone(entry === undefined ? t("{{name}} is added", { name }) : t("{{name}} is changed", { name }));
      close();
    },
  });
  const change = (next: Partial<ServerDraft>) => {
    test.reset();
    save.reset();
    setDraft({ ...draft, ...next });
  };
  const failure = save.error ?? test.error;
  const field = fieldOf(failure);
  const errors = field === undefined ? {} : { [field]: failure?.message };
  const title = entry === undefined ? t("Add an MCP server") : t("Edit {{name}}", { name: entry.name });
  return (
    <Modal opened onClose={close} title={title} size="lg">
      <form
        aria-label={title}
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Stack>
          <Fields draft={draft} change={change} errors={errors} isNew={entry === undefined} />
          {test.data !== undefined && <Outcome test={test.data} />}
          <ErrorAlert error={field === undefined ? failure : null} />
          <Group justify="flex-end">
            <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
              {t("Test")}
            </Button>
            <Button type="submit" loading={save.isPending}>
              {t("Save")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}

interface FieldsProps {
  draft: ServerDraft;
  change: (next: Partial<ServerDraft>) => void;
  errors: Partial<Record<keyof ServerDraft, string>>;
  isNew: boolean;
}

function Fields({ draft, change, errors, isNew }: FieldsProps) {
  return (
    <>
      <TextInput
        label={t("Name")}
        description={t("Requests call it by this name, which begins the names of its tools.")}
        // untranslated: a name
        placeholder="wiki"
        required
        disabled={!isNew}
        data-autofocus={isNew || undefined}
        error={errors.name}
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
      />
      <TextInput
        label={t("Address")}
        placeholder="https://mcp.example.com/mcp"
        data-autofocus={!isNew || undefined}
        error={errors.url}
        value={draft.url}
        onChange={(event) => change({ url: event.currentTarget.value })}
      />
      <Textarea
        label={t("Headers of each request")}
        description={
          isNew
            ? t("One per line. Values are stored encrypted and never shown.")
            : t("One per line. [redacted] keeps a stored value.")
        }
        // untranslated: a header
        placeholder="authorization: Bearer …"
        autosize
        minRows={2}
        maxRows={8}
        autoComplete="off"
        spellCheck={false}
        error={errors.headers}
        value={draft.headers}
        onChange={(event) => change({ headers: event.currentTarget.value })}
      />
      <Switch
        label={t("Each person connects an account (OAuth)")}
        checked={draft.hasAccounts}
        onChange={(event) => change({ hasAccounts: event.currentTarget.checked })}
      />
      <Switch
        label={t("Every call within a response needs an approval")}
        checked={draft.needsApproval}
        onChange={(event) => change({ needsApproval: event.currentTarget.checked })}
      />
      <JsonInput
        label={t("More settings, as in parlance.yaml")}
        description={t("Such as access, prices, timeout_seconds, or command where the file allows programs.")}
        autosize
        minRows={3}
        maxRows={16}
        error={errors.more}
        validationError={t("This is not valid JSON.")}
        value={draft.more}
        onChange={(more) => change({ more })}
      />
    </>
  );
}

function Outcome({ test: { ok, problem, tools, software, ...facts } }: { test: Test }) {
  const { authorization_server: issuer, protocol_version: version, duration_ms: duration } = facts;
  return (
    <Alert
      color={ok ? "teal" : "red"}
      variant="light"
      role="status"
      title={ok ? t("It works") : t("It does not work yet")}
    >
      <Stack gap="xs">
        {problem !== null && <Text size="sm">{problem}</Text>}
        {issuer !== null && (
          <Text size="sm">{t("People connect their accounts at {{issuer}}, and then see the tools.", { issuer })}</Text>
        )}
        {software !== null && (
          <Text size="sm">
            {[
              `${software.name} ${software.version}`,
              version,
              plural(tools.length, "{{count}} tool", "{{count}} tools"),
              formatMilliseconds(duration),
            ].join(" · ")}
          </Text>
        )}
        {tools.length > 0 && (
          <Group gap={4}>
            {tools.slice(0, MAX_SHOWN).map(({ name }) => (
              <Badge key={name} variant="light" color="gray" tt="none" c="var(--mantine-color-text)">
                {name}
              </Badge>
            ))}
            {tools.length > MAX_SHOWN && (
              <Text size="sm">{t("and {{number}} more", { number: tools.length - MAX_SHOWN })}</Text>
            )}
          </Group>
        )}
      </Stack>
    </Alert>
  );
}

const MAX_SHOWN = 24;
