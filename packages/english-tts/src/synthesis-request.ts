export interface SynthesisRequest {
  text: string;
  /** One of the model's own voices. */
  voice: string;
  /** 0.25 to 4; 1 is the voice's normal pace. */
  speed: number;
  /** A longer text throws a TtsError `input_too_long`. */
  maxInputCharacters: number;
  /** False: speak texts in other languages too, as well as English rules can. */
  checksLanguage: boolean;
}
