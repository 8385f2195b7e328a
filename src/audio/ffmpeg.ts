/** FFmpeg as a decoder, where an operator allows it: native code on files that nobody need trust, in a process held short. */

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { Fault } from "../faults.ts";
import type { DecodeOrder } from "./decode-file.ts";
import { type DecodeProcess, readSamples } from "./read-samples.ts";
import { tooLong, UnreadableFile } from "./unreadable-file.ts";

/** Kinds of files that name no other files: none that are lists, links or descriptions of a stream. */
const DEMUXERS =
  "aac,ac3,aea,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dff,dsf,dts,dtshd,eac3,flac,flv,gsm,loas,matroska,webm,mov,mp4,m4a," +
  "3gp,3g2,mj2,mp3,mpc,mpc8,mpeg,mpegts,oga,ogg,oma,qcp,rm,spx,tak,truehd,tta,voc,w64,wav,wsd,wv,xwma";
/** No file is written, no core is dumped, and memory and processor time have an end. Not every system has each limit. */
const LIMITED =
  'ulimit -f 0 2>/dev/null; ulimit -c 0 2>/dev/null; ulimit -v 2000000 2>/dev/null; ulimit -t 7200 2>/dev/null; exec "$@"';

/** Mono samples (-1 to 1). Throws an UnreadableFile for what FFmpeg does not read either. */
export async function* decodeWithFfmpeg(
  command: string,
  { path, sampleRate, maxSeconds }: DecodeOrder,
  signal: AbortSignal,
): AsyncGenerator<Float32Array> {
  const child = start(command, [
    ...["-nostdin", "-v", "error", "-threads", "1", "-protocol_whitelist", "file"],
    ...["-format_whitelist", DEMUXERS, "-i", `file:${path}`, "-map", "0:a:0", "-vn", "-sn", "-dn"],
    // One second more than is taken, to tell what is longer.
    ...["-t", String(maxSeconds + 1), "-ac", "1", "-ar", String(sampleRate), "-f", "f32le", "pipe:1"],
  ]);
  child.stderr?.resume();
  let count = 0;
  for await (const samples of readSamples(child, signal)) {
    count += samples.length;
    if (count > maxSeconds * sampleRate) throw tooLong(maxSeconds);
    yield samples;
  }
  // Of a file that breaks off, what is there was given.
  if (count === 0 && !signal.aborted) throw new UnreadableFile("The file could not be decoded as audio.");
}

/** Throws a Fault unless the command is FFmpeg and runs. */
export async function checkFfmpeg(command: string): Promise<void> {
  const child = start(command, ["-version"]);
  const said = await text(child.stdout).catch(() => "");
  if (said.startsWith("ffmpeg version")) return;
  throw new Fault("invalid-request", `server.ffmpeg: ${command} cannot be run, or is not FFmpeg.`);
}

function start(command: string, parameters: readonly string[]): DecodeProcess {
  const child = spawn("/bin/sh", ["-c", LIMITED, "sh", command, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH },
  });
  // A start that fails shows as an end without samples.
  child.on("error", () => {});
  return child;
}
