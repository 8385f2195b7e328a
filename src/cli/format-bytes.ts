const UNITS = ["bytes", "kB", "MB", "GB", "TB"];

/** Formats bytes in powers of 1000, as pip and the Hugging Face Hub do: `98.4 MB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toFixed(1)} ${UNITS[power]}`;
}
