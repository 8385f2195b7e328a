/** Samples per second of the mono audio that every part of this package takes. */
export const SAMPLE_RATE = 16_000;
/** Samples that Silero judges at a time. */
export const WINDOW_SAMPLES = 512;
