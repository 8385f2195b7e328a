import { Badge, Group, Stack, Text } from "@mantine/core";
import { t } from "../../i18n/translate.ts";
import { allVariables, describeVariable, templateParts } from "./prompt-text.ts";
import type { PromptContent } from "./prompts-api.ts";

/** Messages with their placeholders, variables and settings of a version. */
export function VersionContent({ content, note }: { content: PromptContent; note: string | null }) {
  const { messages, variables: _variables, ...settings } = content;
  return (
    <Stack gap="md">
      {note !== null && (
        <Text size="sm" c="dimmed" className="wrap-anywhere">
          {note}
        </Text>
      )}
      {messages.map(({ role, content: template }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a version never changes
        <section key={index} aria-label={t("Message {{number}}", { number: index + 1 })}>
          <Text size="xs" c="dimmed" fw={500} mb={2}>
            {role}
          </Text>
          <div className="template">
            {templateParts(template).map(({ text, isPlaceholder }, part) =>
              isPlaceholder ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: a version never changes
                <span key={part} className="placeholder">
                  {text}
                </span>
              ) : (
                text
              ),
            )}
          </div>
        </section>
      ))}
      {allVariables(content).map((variable) => (
        <Group key={variable.name} gap="xs">
          <span className="placeholder">{variable.name}</span>
          <Text size="sm" c="dimmed" className="wrap-anywhere">
            {describeVariable(variable)}
            {variable.description !== undefined && ` · ${variable.description}`}
          </Text>
        </Group>
      ))}
      <Group gap={6}>
        {Object.entries(settings).map(([name, value]) => (
          <Badge key={name} variant="light" color="gray" tt="none" c="var(--mantine-color-text)" maw="100%">
            {name}: {typeof value === "object" ? describe(value) : String(value)}
          </Badge>
        ))}
      </Group>
    </Stack>
  );
}

/** Names of functions, or the type of a format. */
function describe(value: object): string {
  if (Array.isArray(value)) return value.map((each) => String(each?.name ?? each?.type)).join(", ");
  return "type" in value ? String(value.type) : JSON.stringify(value);
}
