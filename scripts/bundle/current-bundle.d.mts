export const BUNDLES: string;
export const COMPLETE: string;
export function currentBundle(): { folder: string; executable: string; isComplete: boolean };
