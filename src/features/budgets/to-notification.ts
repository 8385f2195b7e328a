/** Converts an e-mail channel of the API. */
export function toNotification(channel: { recipients: readonly string[]; subject_prefix?: string | null | undefined }) {
  return { recipients: channel.recipients, subjectPrefix: channel.subject_prefix ?? null };
}
