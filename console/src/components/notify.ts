import { notifications } from "@mantine/notifications";

export function notifyDone(message: string): void {
  notifications.show({ message, color: "teal" });
}

export function notifyFailure(failure: unknown): void {
  notifications.show({
    title: "That did not work",
    message: failure instanceof Error ? failure.message : String(failure),
    color: "red",
    autoClose: 10_000,
  });
}
