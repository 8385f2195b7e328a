import { ActionIcon, Loader } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type ModelEntry, modelsQuery } from "../../../api/models.ts";
import { send } from "../../../api/request.ts";
import { notifyFailure } from "../../../components/notify.tsx";
import { Tooltip } from "../../../components/tooltip.tsx";
import { t } from "../../../i18n/translate.ts";
import { IconPlayerStop, IconVolume } from "../../../icons.tsx";
import { canStream, playStream } from "../../speech/play-stream.ts";
import { spokenText } from "./spoken-text.ts";

const FORMAT = "mp3";

/** Reads an answer aloud with the first voice of the project; nothing where no model speaks. */
export function ReadAloudButton({ text }: { text: string }) {
  const { data: models = [] } = useQuery(modelsQuery);
  const model = models.find(({ metadata }) => metadata.task === "speech");
  const [state, setState] = useState<"silent" | "waiting" | "speaking">("silent");
  const playing = useRef<{ abort: AbortController; audio: HTMLAudioElement }>(undefined);
  const stop = () => {
    playing.current?.abort.abort();
    playing.current?.audio.pause();
    playing.current = undefined;
    setState("silent");
  };
  useEffect(
    () => () => {
      playing.current?.abort.abort();
      playing.current?.audio.pause();
    },
    [],
  );
  if (model === undefined) return null;
  const start = async () => {
    const run = { abort: new AbortController(), audio: new Audio() };
    playing.current = run;
    setState("waiting");
    run.audio.addEventListener("playing", () => setState("speaking"));
    run.audio.addEventListener("ended", stop);
    try {
      const response = await speak(model, spokenText(text), run.abort.signal);
      if (response.body !== null && canStream(FORMAT)) {
        const { url, complete } = playStream(response.body, FORMAT);
        run.audio.src = url;
        void complete.catch(() => undefined);
      } else run.audio.src = URL.createObjectURL(await response.blob());
      await run.audio.play();
    } catch (failure) {
      if (run.abort.signal.aborted) return;
      stop();
      notifyFailure(failure);
    }
  };
  const label = state === "silent" ? t("Read aloud") : t("Stop reading");
  return (
    <Tooltip label={label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={label}
        onClick={() => (state === "silent" ? void start() : stop())}
      >
        {state === "waiting" ? (
          <Loader size={13} />
        ) : state === "speaking" ? (
          <IconPlayerStop size={15} />
        ) : (
          <IconVolume size={15} />
        )}
      </ActionIcon>
    </Tooltip>
  );
}

function speak({ id, metadata }: ModelEntry, input: string, signal: AbortSignal): Promise<Response> {
  const voice = metadata.voices?.[0] ?? "alloy";
  // untranslated: an operation of the API
  const body = { model: id, voice, input, response_format: FORMAT };
  return send("v1/audio/speech", { method: "POST", body, signal });
}
