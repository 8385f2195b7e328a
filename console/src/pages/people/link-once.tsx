import { Alert, Code, Group } from "@mantine/core";
import { CopyButton } from "../../components/copy-button.tsx";
import { t } from "../../i18n/translate.ts";
import { IconKey } from "../../icons.tsx";

/** A link for one person, shown once. */
export function LinkOnce({ link, title }: { link: string; title: string }) {
  return (
    <Alert color="teal" variant="light" icon={<IconKey />} title={title}>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <Code block flex={1} miw={0} className="wrap-anywhere" style={{ whiteSpace: "pre-wrap" }} data-testid="link">
          {link}
        </Code>
        <CopyButton text={link} label={t("Copy link")} />
      </Group>
    </Alert>
  );
}
