import { Alert, Badge, Button, Group, JsonInput, Stack, Switch, Text, Textarea, TextInput } from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import type { Answers } from "../../api/answers.ts";
import { ApiError } from "../../api/request.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { FormDialog } from "../../components/form-dialog.tsx";
import { formatMilliseconds } from "../../components/format.ts";
import { useAction } from "../../components/use-action.ts";
import { plural, t } from "../../i18n/translate.ts";
import { SERVER_QUERIES, type ServerEntry, saveServer, testServer } from "./mcp-api.ts";
import { fieldOf, NEW_SERVER, type ServerDraft, toDraft, toValue } from "./server-draft.ts";

type Test = Answers["McpServerTest"];

interface ServerFormProps {
  /** Server to change; left out: a new one. */
  entry?: ServerEntry;
  close: () => void;
}

/** Adds or changes an MCP server of the API, which can be tested before it is saved. */
export function ServerForm({ entry, close }: ServerFormProps) {
  const test = useAction((draft: ServerDraft) => testDraft(draft));
  const isNew = entry === undefined;
  return (
    <FormDialog<ServerDraft, unknown>
      title={isNew ? t("Add an MCP server") : t("Edit {{name}}", { name: entry.name })}
      action={t("Save")}
      size="lg"
      onClose={close}
      initial={{ ...(isNew ? NEW_SERVER : toDraft(entry.value as never)) }}
      save={async (draft) => atField(() => saveServer(toValue(draft), entry))}
      done={({ name }) => (isNew ? t("{{name}} is added", { name }) : t("{{name}} is changed", { name }))}
      changes={SERVER_QUERIES}
      aside={(form) => (
        <Button
          variant="default"
          loading={test.isPending}
          onClick={() =>
            test.mutate(form.values, {
              onError: (failure) => {
                const field = fieldOf(failure);
                if (field !== undefined) form.setFieldError(field, failure.message);
              },
            })
          }
        >
          {t("Test")}
        </Button>
      )}
    >
      {(form) => (
        <>
          <Fields form={form} isNew={isNew} />
          {test.data !== undefined && <Outcome test={test.data} />}
          <ErrorAlert error={fieldOf(test.error) === undefined ? test.error : null} />
        </>
      )}
    </FormDialog>
  );
}

async function testDraft(draft: ServerDraft): Promise<Test> {
  return testServer(toValue(draft));
}

/** Names the field of the draft that a failure is about as its parameter. */
async function atField<Output>(save: () => Promise<Output>): Promise<Output> {
  try {
    return await save();
  } catch (failure) {
    const field = failure instanceof Error ? fieldOf(failure) : undefined;
    if (field === undefined) throw failure;
    throw new ApiError(400, (failure as Error).message, null, field);
  }
}

interface FieldsProps {
  form: UseFormReturnType<ServerDraft>;
  isNew: boolean;
}

function Fields({ form, isNew }: FieldsProps) {
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
        {...form.getInputProps("name")}
      />
      <TextInput
        label={t("Address")}
        placeholder="https://mcp.example.com/mcp"
        data-autofocus={!isNew || undefined}
        {...form.getInputProps("url")}
      />
      <TextInput
        label={t("OpenAPI document")}
        description={t("Of an API whose operations become tools. The address above is then that of the API.")}
        placeholder="https://api.example.com/openapi.json"
        {...form.getInputProps("openapi")}
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
        {...form.getInputProps("headers")}
      />
      <Switch
        label={t("Each person connects an account (OAuth)")}
        {...form.getInputProps("hasAccounts", { type: "checkbox" })}
      />
      <Switch
        label={t("Every call within a response needs an approval")}
        {...form.getInputProps("needsApproval", { type: "checkbox" })}
      />
      <JsonInput
        label={t("More settings, as in parlance.yaml")}
        description={t("Such as access, prices, timeout_seconds, or command where the file allows programs.")}
        autosize
        minRows={3}
        maxRows={16}
        validationError={t("This is not valid JSON.")}
        {...form.getInputProps("more")}
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
