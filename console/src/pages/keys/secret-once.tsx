import { Alert, Code, Group, Stack, Text } from "@mantine/core";
import { baseUrl } from "../../components/code-text.ts";
import { CopyButton } from "../../components/copy-button.tsx";
import { t } from "../../i18n/translate.ts";
import { IconKey } from "../../icons.tsx";

interface SecretOnceProps {
  secret: string;
  callsModels: boolean;
}

/** A new key, shown once, with lines to paste. */
export function SecretOnce({ secret, callsModels }: SecretOnceProps) {
  // untranslated: code
  const lines = callsModels
    ? `export OPENAI_BASE_URL=${baseUrl()}\nexport OPENAI_API_KEY=${secret}`
    : `export OPENAI_BASE_URL=${baseUrl()}\nexport PARLANCE_ADMIN_KEY=${secret}`;
  return (
    <Alert color="teal" variant="light" icon={<IconKey />} title={t("Copy this key now: it is shown only once")}>
      <Stack gap="xs">
        <Line text={secret} label={t("Copy key")} />
        <Text size="sm">{t("Or paste both lines into a shell:")}</Text>
        <Line text={lines} label={t("Copy lines")} />
      </Stack>
    </Alert>
  );
}

function Line({ text, label }: { text: string; label: string }) {
  return (
    <Group gap={4} wrap="nowrap" align="flex-start">
      <Code block flex={1} miw={0} className="wrap-anywhere" style={{ whiteSpace: "pre-wrap" }} data-testid="secret">
        {text}
      </Code>
      <CopyButton text={text} label={label} />
    </Group>
  );
}
