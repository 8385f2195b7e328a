import { Alert, Button, Group } from "@mantine/core";
import { t } from "../i18n/translate.ts";
import { IconAlertTriangle } from "../icons.tsx";

interface PageErrorProps {
  error: unknown;
  reset?: () => void;
}

export function PageError({ error, reset }: PageErrorProps) {
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={t("This could not be shown")} role="alert">
      {error instanceof Error ? error.message : String(error)}
      <Group mt="sm">
        <Button size="xs" variant="default" onClick={() => (reset ? reset() : window.location.reload())}>
          {t("Try again")}
        </Button>
      </Group>
    </Alert>
  );
}
