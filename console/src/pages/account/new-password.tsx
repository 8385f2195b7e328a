import { PasswordInput } from "@mantine/core";

/** The service refuses shorter ones. */
const MIN_LENGTH = 15;

/** Checks a new password before it is sent. */
export function checkNewPassword(password: string): string | null {
  return [...password].length >= MIN_LENGTH
    ? null
    : `At least ${MIN_LENGTH} characters; several words are easy to remember.`;
}

export function NewPassword(props: object) {
  return (
    <PasswordInput
      label="New password"
      description={`At least ${MIN_LENGTH} characters.`}
      autoComplete="new-password"
      required
      {...props}
    />
  );
}
