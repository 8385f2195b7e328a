/** TypeScript declares these in its library for browsers only. */
declare namespace WebAssembly {
  class Module {
    private constructor();
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
