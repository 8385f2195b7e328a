import { Button, Group } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { t } from "../i18n/translate.ts";

export function notifyDone(message: string): void {
  notifications.show({ message, color: "teal" });
}

export const UNDO_MS = 8000;

/** Says what was done, with a button that undoes it. */
export function notifyUndo(message: string, undo: () => void): void {
  const id = notifications.show({
    autoClose: UNDO_MS,
    color: "gray",
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{message}</span>
        <Button
          variant="subtle"
          size="compact-sm"
          onClick={() => {
            notifications.hide(id);
            undo();
          }}
        >
          {t("Undo")}
        </Button>
      </Group>
    ),
  });
}

export function notifyFailure(failure: unknown): void {
  notifications.show({
    title: t("That did not work"),
    message: failure instanceof Error ? failure.message : String(failure),
    color: "red",
    autoClose: 10_000,
  });
}
