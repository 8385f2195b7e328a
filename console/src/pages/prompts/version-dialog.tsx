import {
  ActionIcon,
  Button,
  Card,
  Group,
  NativeSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  Text,
  Textarea,
  TextInput,
} from "@mantine/core";
import type { UseFormReturnType } from "@mantine/form";
import { useQuery } from "@tanstack/react-query";
import { modelsQuery } from "../../api/models.ts";
import { FormDialog } from "../../components/form-dialog.tsx";
import { randomId } from "../../components/random-id.ts";
import { msg, t } from "../../i18n/translate.ts";
import { IconPlus, IconTrash } from "../../icons.tsx";
import { draftOf, toContent, typesFor, VARIABLE_TYPES } from "./prompt-draft.ts";
import { PROMPT_QUERIES, type PromptContent } from "./prompts-api.ts";

interface VersionDialogProps {
  title: string;
  /** Content that the form begins with. */
  initial?: PromptContent;
  action: string;
  /** Asks for a name in place of a note. */
  hasName?: boolean;
  /** Resolves with what follows once the dialog is closed. */
  save: (version: { name: string; note: string; content: PromptContent }) => Promise<() => void>;
  done?: string;
  onClose: () => void;
}

const ROLES = [
  { value: "developer", label: msg("Instructions") },
  { value: "user", label: msg("User") },
  { value: "assistant", label: msg("Assistant") },
  { value: "system", label: msg("System") },
];

/** Writes a version: messages, the variables in them, and settings. */
export function VersionDialog(props: VersionDialogProps) {
  const { title, initial, action, hasName = false, save, done, onClose } = props;
  return (
    <FormDialog<VersionValues, () => void>
      title={title}
      action={action}
      size="xl"
      onClose={onClose}
      initial={{ name: "", note: "", ...draftOf(initial) }}
      save={async ({ name, note, ...draft }) => save({ name, note, content: toContent(draft) })}
      {...(done !== undefined && { done: () => done })}
      changes={PROMPT_QUERIES}
      onSaved={(follow) => follow()}
    >
      {(form) => <Fields form={form} hasName={hasName} />}
    </FormDialog>
  );
}

type VersionValues = { name: string; note: string } & ReturnType<typeof draftOf>;
type VersionForm = UseFormReturnType<VersionValues>;

function Fields({ form, hasName }: { form: VersionForm; hasName: boolean }) {
  const models = useQuery(modelsQuery);
  const { messages } = form.values;
  const chatModels = models.data?.filter(({ metadata }) => metadata.task === "chat").map(({ id }) => id) ?? [];
  return (
    <>
      {hasName && (
        <TextInput
          label={t("Name")}
          description={t("Requests name the prompt by it.")}
          // untranslated: a name
          placeholder="release-notes"
          required
          data-autofocus
          {...form.getInputProps("name")}
        />
      )}
      {messages.map(({ key }, index) => (
        <Card key={key} padding="sm">
          <Group justify="space-between" mb={6}>
            <NativeSelect
              size="xs"
              aria-label={t("Role of message {{number}}", { number: index + 1 })}
              data={ROLES.map(({ value, label }) => ({ value, label: t(label) }))}
              {...form.getInputProps(`messages.${index}.role`)}
            />
            {messages.length > 1 && (
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t("Remove message {{number}}", { number: index + 1 })}
                onClick={() => form.removeListItem("messages", index)}
              >
                <IconTrash size={16} />
              </ActionIcon>
            )}
          </Group>
          <Textarea
            aria-label={t("Text of message {{number}}", { number: index + 1 })}
            placeholder={t("Write release notes in {{variable}}.", { variable: "{{language}}" })}
            autosize
            minRows={2}
            maxRows={16}
            required
            {...form.getInputProps(`messages.${index}.content`)}
          />
        </Card>
      ))}
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconPlus size={14} />}
          onClick={() => form.insertListItem("messages", { key: randomId(), role: "user", content: "" })}
        >
          {t("Add a message")}
        </Button>
        <Text size="xs" c="dimmed">
          {t("{{placeholder}} stands for a variable.", { placeholder: "{{name}}" })}
        </Text>
      </Group>
      <Variables form={form} />
      <SimpleGrid cols={{ base: 1, sm: 3 }}>
        <Select
          label={t("Model")}
          placeholder={t("That of the request")}
          searchable
          clearable
          data={chatModels}
          {...form.getInputProps("model")}
        />
        <NumberInput
          label={t("Temperature")}
          min={0}
          max={2}
          step={0.1}
          placeholder={t("Default")}
          {...form.getInputProps("temperature")}
        />
        <NumberInput
          label={t("Maximum output tokens")}
          min={1}
          placeholder={t("Default")}
          {...form.getInputProps("maxOutputTokens")}
        />
      </SimpleGrid>
      <Textarea
        label={t("Further settings (JSON)")}
        description={t("format, tools, top_p, reasoning_effort: as in the API.")}
        autosize
        maxRows={10}
        className="code-field"
        {...form.getInputProps("further")}
      />
      {!hasName && (
        <TextInput label={t("Note")} placeholder={t("What changes, and why")} {...form.getInputProps("note")} />
      )}
    </>
  );
}

/** Types of the variables that the messages have. */
function Variables({ form }: { form: VersionForm }) {
  const types = typesFor(form.values);
  if (types.length === 0) return null;
  return (
    <Stack gap="xs">
      <Text size="sm" fw={500}>
        {t("Variables")}
      </Text>
      {types.map(({ name, type, options, default: value, description }) => {
        const set = (change: object) =>
          form.setFieldValue("variables", {
            ...form.values.variables,
            [name]: { type, options, default: value, description, ...change },
          });
        return (
          <Group key={name} gap="xs" align="center">
            <Text size="sm" ff="monospace" miw={110} className="wrap-anywhere">
              {name}
            </Text>
            <NativeSelect
              size="xs"
              aria-label={t("Type of {{name}}", { name })}
              data={VARIABLE_TYPES}
              value={type}
              onChange={(event) => set({ type: event.currentTarget.value })}
            />
            {type === "enum" && (
              <TextInput
                size="xs"
                flex={2}
                miw={140}
                required
                aria-label={t("Options of {{name}}", { name })}
                placeholder={t("English, Polish")}
                value={options}
                onChange={(event) => set({ options: event.currentTarget.value })}
              />
            )}
            {type !== "image" && type !== "file" && (
              <TextInput
                size="xs"
                flex={1}
                miw={110}
                aria-label={t("Default of {{name}}", { name })}
                placeholder={t("Default, if any")}
                value={value}
                onChange={(event) => set({ default: event.currentTarget.value })}
              />
            )}
          </Group>
        );
      })}
    </Stack>
  );
}
