/** Tasks of open models, in the order of listings. */
export const TASKS = ["chat", "moderation", "speech", "transcription"] as const;

export type Task = (typeof TASKS)[number];
