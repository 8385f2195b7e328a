import type { WireRecorder } from "./wire-recorder.ts";

interface WireService {
  recorder: WireRecorder;
  key: string;
  adminKey: string;
}

/** Requests in recordable order, which leave nothing that another script depends on. */
export type WireScript = (service: WireService) => Promise<void>;
