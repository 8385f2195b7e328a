/** The package declares no types. It exports a list of stop words for each language by its ISO 639-3 code. */
declare module "stopword" {
  export const deu: readonly string[];
  export const eng: readonly string[];
  export const fra: readonly string[];
  export const ita: readonly string[];
  export const nld: readonly string[];
  export const pol: readonly string[];
  export const por: readonly string[];
  export const spa: readonly string[];
  export const swe: readonly string[];
  export const tur: readonly string[];
}
