import { Button, Group, Stack, Textarea } from "@mantine/core";
import { useState } from "react";
import { plural, t } from "../../i18n/translate.ts";
import type { ToolCall, ToolResult } from "./conversation.ts";

interface ToolResultsFormProps {
  calls: readonly ToolCall[];
  onSend: (results: ToolResult[]) => void;
}

/** What the called tools return, so that the model can go on. */
export function ToolResultsForm({ calls, onSend }: ToolResultsFormProps) {
  const [contents, setContents] = useState<string[]>([]);
  const isComplete = calls.every((_call, index) => (contents[index] ?? "").trim() !== "");
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSend(calls.map(({ id, name }, index) => ({ id, name, content: contents[index] ?? "" })));
      }}
    >
      <Stack gap="xs">
        {calls.map(({ id, name }, index) => (
          <Textarea
            key={id}
            label={t("Result of {{name}}", { name })}
            placeholder={t('{"temperature": 21}')}
            autosize
            maxRows={8}
            value={contents[index] ?? ""}
            onChange={(event) => {
              const content = event.currentTarget.value;
              setContents(calls.map((_call, at) => (at === index ? content : (contents[at] ?? ""))));
            }}
          />
        ))}
        <Group justify="flex-end">
          <Button type="submit" size="xs" disabled={!isComplete}>
            {plural(calls.length, "Send the result", "Send {{count}} results")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
