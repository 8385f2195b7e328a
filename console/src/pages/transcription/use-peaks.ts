import { useEffect, useState } from "react";

/** Loudness of a recording at equal distances, 0 to 1. */
export interface Peaks {
  levels: Float32Array;
  seconds: number;
}

const POINTS = 2000;
const SAMPLE_RATE = 8000;
/** A decoded recording takes 32 kB of memory per second: longer ones are drawn without a waveform. */
const MAX_BYTES = 200e6;

/** Decodes a recording in the browser; undefined until then, null where the browser cannot. */
export function usePeaks(recording: File | null): Peaks | null | undefined {
  const [peaks, setPeaks] = useState<Peaks | null>();
  useEffect(() => {
    let isCurrent = true;
    setPeaks(undefined);
    if (recording === null) return;
    const read = recording.size > MAX_BYTES ? Promise.resolve(null) : recording.arrayBuffer().then(decodePeaks);
    void read
      .catch(() => null)
      .then((next) => {
        if (isCurrent) setPeaks(next);
      });
    return () => {
      isCurrent = false;
    };
  }, [recording]);
  return peaks;
}

/** Rejects for a format that the browser does not decode. */
export async function decodePeaks(bytes: ArrayBuffer): Promise<Peaks> {
  const audio = await new OfflineAudioContext(1, 1, SAMPLE_RATE).decodeAudioData(bytes);
  return { levels: toLevels(audio.getChannelData(0), POINTS), seconds: audio.duration };
}

/** Root mean square of each of `count` parts; the loudest one is 1. */
function toLevels(samples: Float32Array, count: number): Float32Array {
  const levels = new Float32Array(Math.min(count, samples.length));
  const step = samples.length / levels.length;
  for (let at = 0; at < levels.length; at += 1) {
    const end = Math.floor((at + 1) * step);
    let sum = 0;
    const begin = Math.floor(at * step);
    for (let index = begin; index < end; index += 1) sum += (samples[index] ?? 0) ** 2;
    levels[at] = Math.sqrt(sum / Math.max(1, end - begin));
  }
  const loudest = levels.reduce((max, level) => Math.max(max, level), 0);
  return loudest === 0 ? levels : levels.map((level) => level / loudest);
}
