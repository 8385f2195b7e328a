/** The package declares no types. Pointers are byte addresses in the module's memory. */
declare module "@echogarden/kissfft-wasm" {
  export interface KissFft {
    HEAPF32: Float32Array;
    _malloc(bytes: number): number;
    _kiss_fftr_alloc(size: number, isInverse: number, memory: number, memoryLength: number): number;
    _kiss_fftr(plan: number, signal: number, spectrum: number): void;
    /** The result is `size` times too large. */
    _kiss_fftri(plan: number, spectrum: number, signal: number): void;
  }
  export default function load(): Promise<KissFft>;
}
