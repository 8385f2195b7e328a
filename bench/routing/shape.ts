/** What upstream and clients agree on. */

export const EVENTS = 64;
export const PACE_MILLISECONDS = 20;
export const PACED_EVENTS = 200;
