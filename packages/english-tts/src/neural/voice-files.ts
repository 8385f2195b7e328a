/** Files of voices among those of a model. */

const KOKORO_VOICE = /^voice-(.+)\.bin$/;
const HIBARI_VOICE = /^voice-(.+)\.onnx$/;

/** Paths of a model's files, by their names. */
type Paths = Readonly<Record<string, string>>;

/** Returns the paths of Kokoro's styles, by the names of their voices. */
export function kokoroVoiceFiles(paths: Paths): Record<string, string> {
  return byVoice(paths, KOKORO_VOICE);
}

/** Returns the paths of the hibari networks, by the names of their voices. */
export function hibariVoiceFiles(paths: Paths): Record<string, string> {
  return byVoice(paths, HIBARI_VOICE);
}

/** Returns the names of a model's voices in their order, without opening it. */
export function voicesIn(paths: Paths): string[] {
  return Object.keys({ ...kokoroVoiceFiles(paths), ...hibariVoiceFiles(paths) });
}

function byVoice(paths: Paths, pattern: RegExp): Record<string, string> {
  const names = Object.keys(paths).filter((name) => pattern.test(name));
  return Object.fromEntries(names.map((name) => [name.replace(pattern, "$1"), paths[name] ?? ""]));
}
