import { ActionIcon, Card, Select, SimpleGrid, Stack, Text, Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { type ModelEntry, modelsQuery, type Task, voicesQuery } from "../../api/models.ts";
import { ErrorAlert } from "../../components/error-alert.tsx";
import { NoModel } from "../../components/no-model.tsx";
import { WithModels } from "../../components/with-models.tsx";
import { type Message, msg, t } from "../../i18n/translate.ts";
import { IconMicrophone, IconPlayerStopFilled } from "../../icons.tsx";
import { Captions } from "./captions.tsx";
import { type Phase, TalkSession, type TalkSettings } from "./talk-session.ts";
import { Waveform } from "./waveform.tsx";

export function TalkPage() {
  return (
    <WithModels
      title={t("Talk")}
      description={t("Speak with a model. Both sides are captioned; interrupt it whenever you like.")}
      task="chat"
      icon={<IconMicrophone />}
    >
      {(models) => <Talk models={models} />}
    </WithModels>
  );
}

const PHASES: Readonly<Record<Phase, Message>> = {
  idle: msg("Press to talk"),
  connecting: msg("Connecting…"),
  listening: msg("Listening"),
  hearing: msg("Hearing you"),
  thinking: msg("Thinking…"),
  speaking: msg("Speaking. Interrupt at any time"),
};

function Talk({ models }: { models: ModelEntry[] }) {
  const [session] = useState(() => new TalkSession());
  const { phase, turns, error } = useSyncExternalStore(session.subscribe, session.getState);
  useEffect(() => session.stop, [session]);
  const { data: all = [] } = useQuery(modelsQuery);
  const [chosen, setChosen] = useState<Partial<TalkSettings>>({});
  const idsOf = (task: Task) => all.filter(({ metadata }) => metadata.task === task).map(({ id }) => id);
  const speechModel = chosen.speechModel ?? idsOf("speech")[0] ?? "";
  const voices = useQuery({ ...voicesQuery(speechModel), enabled: speechModel !== "" });
  const names = [...new Set((voices.data?.voices ?? []).map(({ id }) => id))];
  const settings: TalkSettings = {
    model: chosen.model ?? models[0]?.id ?? "",
    transcriptionModel: chosen.transcriptionModel ?? idsOf("transcription")[0] ?? "",
    speechModel,
    voice: names.includes(chosen.voice ?? "") ? (chosen.voice ?? "") : (names[0] ?? ""),
    instructions: chosen.instructions ?? "",
  };
  const set = (part: Partial<TalkSettings>) => setChosen((now) => ({ ...now, ...part }));
  const isIdle = phase === "idle";
  const analysers = useCallback(() => session.analysers(), [session]);
  const missing = missingTask(settings);
  if (missing !== undefined) return <NoModel task={missing} icon={<IconMicrophone />} />;
  return (
    <Card>
      <Stack>
        <SimpleGrid cols={{ base: 2, md: 4 }}>
          {(
            [
              [t("Model"), "model", models.map(({ id }) => id)],
              [t("Hears with"), "transcriptionModel", idsOf("transcription")],
              [t("Speaks with"), "speechModel", idsOf("speech")],
              [t("Voice"), "voice", names],
            ] as const
          ).map(([label, setting, data]) => (
            <Select
              key={setting}
              label={label}
              data={[...data]}
              searchable
              allowDeselect={false}
              disabled={!isIdle}
              value={settings[setting] || null}
              onChange={(value) => value !== null && set({ [setting]: value })}
            />
          ))}
        </SimpleGrid>
        <Textarea
          label={t("Instructions")}
          placeholder={t("Answer briefly, in spoken language.")}
          autosize
          maxRows={6}
          disabled={!isIdle}
          value={settings.instructions}
          onChange={(event) => set({ instructions: event.currentTarget.value })}
        />
        <Waveform analysers={analysers} />
        <Stack align="center" gap="xs">
          <ActionIcon
            size={84}
            radius={42}
            className="talk-button"
            color={isIdle ? "pine" : "red"}
            loading={phase === "connecting"}
            aria-label={isIdle ? t("Start talking") : t("Stop talking")}
            onClick={() => (isIdle ? void session.start(settings) : session.stop())}
          >
            {isIdle ? <IconMicrophone size={36} /> : <IconPlayerStopFilled size={32} />}
          </ActionIcon>
          <Text size="sm" c="dimmed" role="status" data-phase={phase}>
            {t(PHASES[phase])}
          </Text>
        </Stack>
        <ErrorAlert error={error ?? voices.error} />
        {turns.length > 0 && <Captions turns={turns} />}
      </Stack>
    </Card>
  );
}

/** A task for which the project has no model. */
function missingTask({ transcriptionModel, speechModel }: TalkSettings): Task | undefined {
  if (transcriptionModel === "") return "transcription";
  return speechModel === "" ? "speech" : undefined;
}
