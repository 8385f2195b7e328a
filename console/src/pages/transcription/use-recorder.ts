import { useRef, useState } from "react";
import { t } from "../../i18n/translate.ts";

interface Recorder {
  isRecording: boolean;
  error: Error | null;
  toggle: () => void;
}

/** Records from the microphone; calls `onRecorded` with the file. */
export function useRecorder(onRecorded: (file: File) => void): Recorder {
  const [isRecording, setIsRecording] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const recorder = useRef<MediaRecorder>(undefined);

  const start = async () => {
    setError(null);
    try {
      // Browsers have no `mediaDevices` on pages that are neither encrypted nor from this machine.
      if (!navigator.mediaDevices) throw new Error(t("Recording needs HTTPS, or a browser on the same machine."));
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
      const next = new MediaRecorder(stream);
      const parts: Blob[] = [];
      next.ondataavailable = ({ data }) => parts.push(data);
      next.onstop = () => {
        for (const track of stream.getTracks()) track.stop();
        const extension = next.mimeType.includes("mp4") ? "m4a" : "webm";
        onRecorded(new File(parts, `recording.${extension}`, { type: next.mimeType }));
        setIsRecording(false);
      };
      recorder.current = next;
      next.start();
      setIsRecording(true);
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
  };
  return { isRecording, error, toggle: () => (isRecording ? recorder.current?.stop() : void start()) };
}
