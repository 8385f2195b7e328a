import { Anchor, Stack, Text } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { t } from "../../../i18n/translate.ts";

interface MissingToolsProps {
  works: { web: boolean; code: boolean; images: boolean };
}

/** Says to an administrator how to turn on the tools that do not work here. */
export function MissingTools({ works }: MissingToolsProps) {
  return (
    <Stack gap="sm" p={4} maw={320}>
      {!works.web && (
        <Missing title={t("Web search")} reason={t("The service has no search engine.")}>
          <Anchor size="sm" href="docs/how-to/search-the-web" target="_blank">
            {t("Turn on web search")}
          </Anchor>
        </Missing>
      )}
      {!works.code && (
        <Missing title={t("Code interpreter")} reason={t("The service has no sandbox that runs Python.")}>
          <Anchor size="sm" href="docs/how-to/run-code" target="_blank">
            {t("Turn on the code interpreter")}
          </Anchor>
        </Missing>
      )}
      {!works.images && (
        <Missing title={t("Image generation")} reason={t("This project has no model that makes images.")}>
          <Anchor size="sm" component={Link} to="/models">
            {t("Add an image model")}
          </Anchor>
        </Missing>
      )}
    </Stack>
  );
}

interface MissingProps {
  title: string;
  reason: string;
  children: React.ReactNode;
}

function Missing({ title, reason, children }: MissingProps) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {title}
      </Text>
      <Text size="sm" c="dimmed">
        {reason}
      </Text>
      {children}
    </div>
  );
}
