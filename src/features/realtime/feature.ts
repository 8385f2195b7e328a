import type { ModelStore } from "../../model-store/model-store.ts";
import { voiceActivityFile } from "../../model-store/voice-activity-file.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Feature, FeatureParts, RouteParts } from "../feature.ts";
import type { ContentResolver } from "../files/content-resolver.ts";
import { withClientSecrets } from "./client-secret-authenticator.ts";
import { realtimeClientSecrets } from "./client-secret-routes.ts";
import { RealtimeSessions } from "./realtime-sessions.ts";
import { realtime } from "./routes.ts";
import { SpeechDetection } from "./speech-detection.ts";

interface RealtimeFeatureParts extends Pick<FeatureParts, "lifetime">, RouteParts {
  accounts: Accounts;
  store: ModelStore;
  resolver: ContentResolver;
}

export interface RealtimeFeature extends Feature {
  sessions: RealtimeSessions;
}

/** Sessions of the Realtime API. */
export function openRealtime(parts: RealtimeFeatureParts): RealtimeFeature {
  const { config, lifetime, inference, authenticate, accounts, store, resolver } = parts;
  const speechDetection = new SpeechDetection((signal) => voiceActivityFile(store, signal));
  lifetime.defer(() => speechDetection.close());
  const { transcriptionModel, speechModel, maxSessionsPerProject, ...limits } = config.realtime;
  const sessions = new RealtimeSessions(maxSessionsPerProject);
  const detectSpeech = (signal: AbortSignal) => speechDetection.open(signal);
  const services = { inference, content: resolver, detectSpeech, transcriptionModel, speechModel };
  const { maxBodyBytes: maxMessageBytes, corsOrigins: origins } = config.server;
  return {
    sessions,
    project: [realtimeClientSecrets(accounts, services)],
    public: [
      async (app) => {
        app.register(
          async (scope) => {
            authenticate(scope, "project", withClientSecrets(accounts));
            scope.register(realtime({ ...limits, accounts, services, sessions, maxMessageBytes, origins }));
          },
          { prefix: "/v1" },
        );
      },
    ],
    drain: () => sessions.drain(),
  };
}
