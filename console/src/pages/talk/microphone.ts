import { t } from "../../i18n/translate.ts";
import workletUrl from "./capture-worklet.ts?worker&url";

/** Audio of the microphone until it is closed. */
export interface Microphone {
  analyser: AnalyserNode;
  close(): void;
}

/**
 * Calls `onAudio` with blocks of 16-bit samples at 24 kHz. Rejects when the page may not record, with the browser's
 * reason.
 */
export async function openMicrophone(
  context: AudioContext,
  onAudio: (block: Int16Array<ArrayBuffer>) => void,
): Promise<Microphone> {
  // Browsers have no `mediaDevices` on pages that are neither encrypted nor from this machine.
  if (!navigator.mediaDevices) throw new Error(t("Talking needs HTTPS, or a browser on the same machine."));
  // Without the cancellation, an answer from the loudspeaker would interrupt itself.
  const audio = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
  const stream = await navigator.mediaDevices.getUserMedia({ audio });
  const close = () => {
    for (const track of stream.getTracks()) track.stop();
  };
  try {
    await context.audioWorklet.addModule(workletUrl);
  } catch (failure) {
    close();
    throw failure;
  }
  const source = context.createMediaStreamSource(stream);
  const analyser = context.createAnalyser();
  const capture = new AudioWorkletNode(context, "capture", {
    numberOfOutputs: 0,
    channelCount: 1,
    channelCountMode: "explicit",
  });
  capture.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) => onAudio(data);
  source.connect(analyser).connect(capture);
  return { analyser, close };
}
