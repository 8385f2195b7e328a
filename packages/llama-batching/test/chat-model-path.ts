declare module "vitest" {
  export interface ProvidedContext {
    /** Absolute path of a small GGUF chat model, provided by the global setup. */
    chatModelPath: string;
  }
}

export {};
