/** Number and pace of events, shared by the upstream and the clients. */

export const EVENTS = 64;
export const PACE_MS = 20;
export const PACED_EVENTS = 200;
