/** Tasks of open models, in the order of listings. */
export const TASKS = ["chat", "embedding", "moderation", "speech", "transcription", "image"] as const;

export type Task = (typeof TASKS)[number];
