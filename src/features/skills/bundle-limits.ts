/** Limits of skills, which are OpenAI's where it names one. */

export const MEGABYTE = 1024 ** 2;
export const MAX_ZIP_BYTES = 50 * MEGABYTE;
export const MAX_FILES = 500;
export const MAX_FILE_BYTES = 25 * MEGABYTE;
/** All files together, unpacked. */
export const MAX_TOTAL_BYTES = 100 * MEGABYTE;
/** Files, folders, and what macOS adds to archives. */
export const MAX_ENTRIES = 4 * MAX_FILES;
export const MAX_PATH_BYTES = 255;
/** What a bundle that is packed here has beside its files: twice a header with the path, and the end of the directory. */
export const MAX_HEADER_BYTES = MAX_FILES * (2 * MAX_PATH_BYTES + 76) + 22;
export const MAX_MANIFEST_BYTES = 1024 ** 2;
export const MAX_FRONT_MATTER_LENGTH = 16_384;
export const MAX_DESCRIPTION_LENGTH = 1024;
