import { Alert, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { request } from "../../api/request.ts";
import { useSession } from "../../api/session.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { formatAgo } from "../../components/format.ts";
import { notifyDone } from "../../components/notify.tsx";
import { QueryView } from "../../components/query-view.tsx";
import { t } from "../../i18n/translate.ts";
import { mayWritePrompts, promptsQuery } from "../prompts/prompts-api.ts";
import type { Conversation } from "./conversation.ts";
import { toPromptContent } from "./prompt-settings.ts";

export interface PromptsPanelProps {
  conversation: Conversation;
  /** Opens a prompt by its ID. */
  onUse: (prompt: string) => void;
}

/** Link that opens a prompt in the chat of whoever may use the project. */
function linkTo(prompt: string): string {
  return `${location.href.split("#", 1)[0]}#/chat?prompt=${encodeURIComponent(prompt)}`;
}

/** Saves the settings of the chat as a prompt, and lists the prompts of the project. */
export function PromptsPanel({ conversation, onUse }: PromptsPanelProps) {
  const session = useSession();
  return (
    <Stack>
      {mayWritePrompts(session) && <SaveForm conversation={conversation} />}
      <PromptList onUse={onUse} />
    </Stack>
  );
}

function SaveForm({ conversation }: { conversation: Conversation }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const isEmpty = conversation.parameters.system.trim() === "";
  const saving = useMutation({
    mutationFn: () =>
      request("v1/prompts", { method: "POST", body: { name: name.trim(), content: toPromptContent(conversation) } }),
    onSuccess: async () => {
      setName("");
      notifyDone(t("Prompt saved"));
      await client.invalidateQueries({ queryKey: promptsQuery.queryKey });
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        saving.mutate();
      }}
    >
      <Group align="flex-end" gap="xs" wrap="nowrap">
        <TextInput
          flex={1}
          label={t("Save these settings as")}
          description={
            isEmpty ? t("Write a system prompt first.") : t("Model, system prompt, sampling, schema and tools.")
          }
          placeholder={t("Name")}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" loading={saving.isPending} disabled={isEmpty || name.trim() === ""}>
          {t("Save")}
        </Button>
      </Group>
      {saving.error !== null && (
        <Alert color="red" variant="light" mt="xs" p="xs" role="alert">
          {saving.error.message}
        </Alert>
      )}
    </form>
  );
}

function PromptList({ onUse }: { onUse: (prompt: string) => void }) {
  const query = useQuery(promptsQuery);
  return (
    <QueryView query={query}>
      {(prompts) =>
        prompts.length === 0 ? (
          <Text c="dimmed" size="sm">
            {t("Saved prompts appear here, for everyone in the project. A link opens one in the chat.")}
          </Text>
        ) : (
          <ul className="prompt-list">
            {prompts.map(({ id, name, description, updated_at, latest_version }) => (
              <li key={id}>
                <div>
                  <Text size="sm" fw={600} className="wrap-anywhere">
                    {name}
                  </Text>
                  <Text size="xs" c="dimmed">
                    {description ??
                      t("Version {{version}}, {{time}}", {
                        version: String(latest_version),
                        time: formatAgo(updated_at),
                      })}
                  </Text>
                </div>
                <Group gap={4} wrap="nowrap">
                  <CopyButton text={linkTo(id)} label={t("Copy link to {{name}}", { name })} />
                  <Button
                    size="compact-sm"
                    variant="default"
                    onClick={() => onUse(id)}
                    aria-label={t("Use {{name}}", { name })}
                  >
                    {t("Use")}
                  </Button>
                </Group>
              </li>
            ))}
          </ul>
        )
      }
    </QueryView>
  );
}
