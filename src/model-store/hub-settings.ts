import type { Secret } from "../kernel/secret.ts";

/** HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE. */
export interface HubSettings {
  /** Without a trailing slash. */
  endpoint: string;
  token: Secret | undefined;
  /** True: no requests to the hub. */
  offline: boolean;
}

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    hub: HubSettings;
  }
}
