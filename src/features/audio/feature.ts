import { Decoder } from "@parlance-inference/audio/decode";
import { checkFfmpeg } from "@parlance-inference/audio/ffmpeg-decoder";
import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import { startConverter } from "../../kernel/process/child.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Accounts } from "../accounts/index.ts";
import { toAudioFault } from "./audio-faults.ts";
import { transcriptionKeywords } from "./keyword-policy.ts";
import { pronunciations } from "./pronunciation-policy.ts";
import { audioSpeech } from "./speech-routes.ts";
import { audioTranscriptions } from "./transcription-routes.ts";
import { audioVoices } from "./voice-routes.ts";

interface AudioParts {
  accounts: Accounts;
  config: Settings;
  lifetime: AsyncDisposableStack;
  inference: Inference;
  files: { directory: string };
}

/** Transcription and speech. Throws a Fault when the configured FFmpeg cannot be used. */
export async function openAudio({ accounts, config, lifetime, inference, files }: AudioParts): Promise<Feature> {
  const { ffmpeg, maxUploadBytes, maxAudioSeconds, unknownFields } = config.server;
  await (ffmpeg && checkFfmpeg(ffmpeg).catch((error) => Promise.reject(toAudioFault(error))));
  const { directory } = files;
  const decoder = new Decoder({ folder: directory, ffmpeg, startProcess: startConverter });
  lifetime.defer(() => decoder.close());
  const uploads = { directory, maxBytes: maxUploadBytes };
  return {
    admin: [pronunciations(accounts), transcriptionKeywords(accounts)],
    project: [
      audioTranscriptions(inference, { decoder, uploads, maxAudioSeconds, unknownFields }),
      audioSpeech(inference, unknownFields),
      audioVoices(inference),
    ],
  };
}
