import { useEffect, useRef, useState } from "react";
import { notifyFailure } from "../../../components/notify.tsx";
import type { AttachedFile } from "../conversation.ts";
import { type AttachOptions, attachFile } from "./attach-file.ts";

/** A file that is being read, such as a recording that a model transcribes. */
interface Reading {
  name: string;
  abort: AbortController;
}

/** Files of the next question, which are read when they are chosen; leaving the page aborts that. */
export function useAttachments(options: AttachOptions, onTranscript: (text: string) => void) {
  const [images, setImages] = useState<string[]>([]);
  const [files, setFiles] = useState<AttachedFile[]>([]);
  const [readings, setReadings] = useState<readonly Reading[]>([]);
  const latest = useRef(readings);
  latest.current = readings;
  useEffect(() => () => void latest.current.map(({ abort }) => abort.abort()), []);
  const read = async (file: File, { abort }: Reading) => {
    try {
      const attachment = await attachFile(file, options, abort.signal);
      if (abort.signal.aborted) return;
      if (attachment.kind === "image") setImages((all) => [...new Set([...all, attachment.url])]);
      else if (attachment.kind === "transcript") onTranscript(attachment.text);
      else setFiles((all) => [...all.filter(({ name }) => name !== file.name), attachment.file]);
    } catch (failure) {
      if (!abort.signal.aborted) notifyFailure(failure);
    }
  };
  return {
    images,
    files,
    readings,
    /** Reads one file after the other. */
    async attach(list: Iterable<File>) {
      const added = [...list].map((file) => ({ file, reading: { name: file.name, abort: new AbortController() } }));
      setReadings((all) => [...all, ...added.map(({ reading }) => reading)]);
      for (const { file, reading } of added) {
        if (!reading.abort.signal.aborted) await read(file, reading);
        setReadings((all) => all.filter((each) => each !== reading));
      }
    },
    cancel(reading: Reading) {
      reading.abort.abort();
      setReadings((all) => all.filter((each) => each !== reading));
    },
    removeImage: (url: string) => setImages((all) => all.filter((each) => each !== url)),
    removeFile: (name: string) => setFiles((all) => all.filter((each) => each.name !== name)),
    clear() {
      setImages([]);
      setFiles([]);
    },
  };
}
