import { ActionIcon, Alert, Group, ScrollArea, Text, Tooltip, UnstyledButton } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { send } from "../../api/request.ts";
import { IconPlayerPlay, IconPlayerStop } from "../../icons.tsx";

interface VoiceListProps {
  model: string;
  voices: readonly string[];
  chosen: string;
  isLoading: boolean;
  onChoose: (voice: string) => void;
}

const SAMPLE = "Hello! This is how I sound. Shall I read something to you?";

/** Voices of a model, each with a spoken sample. */
export function VoiceList({ model, voices, chosen, isLoading, onChoose }: VoiceListProps) {
  const audio = useRef<HTMLAudioElement>(null);
  const [playing, setPlaying] = useState<string>();
  const samples = useRef(new Map<string, string>());
  useEffect(() => {
    const made = samples.current;
    return () => {
      for (const url of made.values()) URL.revokeObjectURL(url);
      made.clear();
    };
  }, []);
  const play = useMutation({
    mutationFn: async (voice: string) => {
      const key = `${model}\n${voice}`;
      const url = samples.current.get(key) ?? (await sample(model, voice));
      samples.current.set(key, url);
      if (audio.current === null) return;
      audio.current.src = url;
      setPlaying(voice);
      await audio.current.play();
    },
  });
  const stop = () => {
    audio.current?.pause();
    setPlaying(undefined);
  };
  return (
    <div>
      <Text size="sm" fw={600} mb={4}>
        Voice
      </Text>
      {isLoading && (
        <Text size="sm" c="dimmed" role="status">
          Loading the model and its voices…
        </Text>
      )}
      {/* biome-ignore lint/a11y/useMediaCaption: the sample says what SAMPLE says */}
      <audio ref={audio} hidden onEnded={() => setPlaying(undefined)} />
      <ScrollArea.Autosize mah={190} type="auto" scrollbarSize={6} viewportProps={{ tabIndex: 0 }}>
        <Group gap={6} role="radiogroup" aria-label="Voice">
          {voices.map((voice) => (
            <Group key={voice} gap={0} wrap="nowrap" className="voice" mod={{ chosen: voice === chosen }}>
              <UnstyledButton
                role="radio"
                aria-checked={voice === chosen}
                px={10}
                py={5}
                fz="sm"
                onClick={() => onChoose(voice)}
              >
                {voice}
              </UnstyledButton>
              <Tooltip label={playing === voice ? "Stop" : "Listen"}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size="sm"
                  mr={4}
                  loading={play.isPending && play.variables === voice}
                  aria-label={playing === voice ? `Stop the sample of ${voice}` : `Listen to ${voice}`}
                  onClick={() => (playing === voice ? stop() : play.mutate(voice))}
                >
                  {playing === voice ? <IconPlayerStop size={13} /> : <IconPlayerPlay size={13} />}
                </ActionIcon>
              </Tooltip>
            </Group>
          ))}
        </Group>
      </ScrollArea.Autosize>
      {play.error !== null && (
        <Alert color="red" variant="light" role="alert" mt="xs">
          {play.error.message}
        </Alert>
      )}
    </div>
  );
}

async function sample(model: string, voice: string): Promise<string> {
  const body = { model, voice, input: SAMPLE, response_format: "mp3" };
  return URL.createObjectURL(await (await send("v1/audio/speech", { method: "POST", body })).blob());
}
