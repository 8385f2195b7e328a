/** The package declares no types. It exports a list of stop words for each language by its ISO 639-3 code. */
declare module "stopword" {
  export const cat: readonly string[];
  export const ces: readonly string[];
  export const dan: readonly string[];
  export const deu: readonly string[];
  export const eng: readonly string[];
  export const fin: readonly string[];
  export const fra: readonly string[];
  export const hrv: readonly string[];
  export const hun: readonly string[];
  export const ind: readonly string[];
  export const ita: readonly string[];
  export const nld: readonly string[];
  export const nob: readonly string[];
  export const pol: readonly string[];
  export const por: readonly string[];
  export const ron: readonly string[];
  export const spa: readonly string[];
  export const swa: readonly string[];
  export const swe: readonly string[];
  export const tur: readonly string[];
}
