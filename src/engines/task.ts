/** What an open model can do, in the order of the listing. */
export const TASKS = ["chat", "moderation", "speech", "transcription"] as const;

export type Task = (typeof TASKS)[number];
