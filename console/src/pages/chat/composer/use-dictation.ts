import { useEffect, useRef, useState } from "react";
import { notifyFailure } from "../../../components/notify.tsx";
import { useRecorder } from "../../transcription/use-recorder.ts";
import { transcribe } from "./attach-file.ts";

/** Writes what is said into the draft. `model`: transcribes; undefined: the project has none. */
export function useDictation(model: string | undefined, onText: (text: string) => void) {
  const abort = useRef<AbortController>(undefined);
  const [isWriting, setIsWriting] = useState(false);
  useEffect(() => () => abort.current?.abort(), []);
  const write = async (file: File) => {
    const run = new AbortController();
    abort.current = run;
    setIsWriting(true);
    try {
      onText(await transcribe(file, model ?? "", run.signal));
    } catch (failure) {
      if (!run.signal.aborted) notifyFailure(failure);
    } finally {
      setIsWriting(false);
    }
  };
  const { isRecording, error, toggle } = useRecorder((file) => void write(file));
  useEffect(() => {
    if (error !== null) notifyFailure(error);
  }, [error]);
  return { isAvailable: model !== undefined, isRecording, isWriting, toggle };
}
