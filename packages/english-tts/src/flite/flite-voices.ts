/** Voices of flite: an American woman and man, a Scot, and a man of fewer and shorter recordings, who sounds the least natural. */
export const FLITE_VOICES = ["slt", "rms", "awb", "kal16"] as const;
export type FliteVoice = (typeof FLITE_VOICES)[number];

/** Sample rate of clients' default PCM and of the neural voices, so that flite can replace one without a change of rate. */
export const FLITE_OUTPUT_RATE = 24_000;
