/** Longer ones are shown as text. */
export const MAX_SOURCE_CHARACTERS = 20_000;
/** A graph of 300 nodes takes 4 s. */
export const TIMEOUT_MS = 5000;
/** Most labels in the description for people who do not see the picture. */
export const MAX_LABELS = 40;
