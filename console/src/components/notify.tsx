import { Button, Group } from "@mantine/core";
import type { NotificationData, NotificationsProps } from "@mantine/notifications";
import { type ComponentType, lazy, Suspense, useEffect } from "react";
import { t } from "../i18n/translate.ts";
import { randomId } from "./random-id.ts";

/** Not part of the first load, and soon there: what fails may be the connection, over which nothing can be loaded. */
const LOAD_AFTER_MS = 3000;
const { promise: demand, resolve: load } = Promise.withResolvers<void>();
const library = demand.then(() => import("@mantine/notifications"));
const Notifications = lazy(
  (): Promise<{ default: ComponentType<Pick<NotificationsProps, "position">> }> =>
    library.then(
      ({ Notifications: component }) => ({ default: component }),
      // The next start of the page tries again.
      () => ({ default: () => null }),
    ),
);

/** The corner in which notifications appear: below are the buttons that send. */
export function NotificationArea() {
  useEffect(() => {
    const timer = setTimeout(load, LOAD_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <Suspense>
      <Notifications position="top-right" />
    </Suspense>
  );
}

async function show(notification: NotificationData): Promise<void> {
  load();
  (await library).notifications.show(notification);
}

export function notifyDone(message: string): void {
  void show({ message, color: "teal" });
}

export const UNDO_MS = 8000;

/** Says what was done, with a button that undoes it. */
export function notifyUndo(message: string, undo: () => void): void {
  const id = randomId();
  const onClick = async () => {
    undo();
    (await library).notifications.hide(id);
  };
  void show({
    id,
    autoClose: UNDO_MS,
    color: "gray",
    message: (
      <Group justify="space-between" wrap="nowrap">
        <span>{message}</span>
        <Button variant="subtle" size="compact-sm" onClick={onClick}>
          {t("Undo")}
        </Button>
      </Group>
    ),
  });
}

export function notifyFailure(failure: unknown): void {
  void show({
    title: t("That did not work"),
    message: failure instanceof Error ? failure.message : String(failure),
    color: "red",
    autoClose: 10_000,
  });
}
