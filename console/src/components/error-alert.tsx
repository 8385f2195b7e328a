import { Alert } from "@mantine/core";

/** Why an action failed, if it did. */
export function ErrorAlert({ error }: { error: Error | null }) {
  if (error === null) return null;
  return (
    <Alert color="red" variant="light" role="alert">
      {error.message}
    </Alert>
  );
}
