/** Decodes with an installed FFmpeg: native code on untrusted files, in a process with resource limits. */

import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { AudioError, tooLong } from "./audio-error.ts";
import type { DecodeOptions } from "./decode-file.ts";
import { type DecodeProcess, readSamples, type StartProcess } from "./read-samples.ts";

/** Formats that cannot name other files: no playlists, links or stream descriptions. */
const DEMUXERS =
  "aac,ac3,aea,aiff,amr,amrnb,amrwb,ape,asf,au,avi,caf,dff,dsf,dts,dtshd,eac3,flac,flv,gsm,loas,matroska,webm,mov,mp4,m4a," +
  "3gp,3g2,mj2,mp3,mpc,mpc8,mpeg,mpegts,oga,ogg,oma,qcp,rm,spx,tak,truehd,tta,voc,w64,wav,wsd,wv,xwma";
/** Forbids writing files and core dumps, and limits memory and CPU time. Not every system has each limit. */
const RUN_WITH_LIMITS =
  'ulimit -f 0 2>/dev/null; ulimit -c 0 2>/dev/null; ulimit -v 2000000 2>/dev/null; ulimit -t 7200 2>/dev/null; exec "$@"';

/** Yields mono samples (-1 to 1). Throws an AudioError `unreadable` when FFmpeg finds no audio. */
export async function* decodeWithFfmpeg(
  command: string,
  { path, sampleRate, maxSeconds }: DecodeOptions,
  signal: AbortSignal,
  startProcess?: StartProcess,
): AsyncGenerator<Float32Array> {
  const child = start(
    command,
    [
      ...["-nostdin", "-v", "error", "-threads", "1", "-protocol_whitelist", "file"],
      ...["-format_whitelist", DEMUXERS, "-i", `file:${path}`, "-map", "0:a:0", "-vn", "-sn", "-dn"],
      // One second above the maximum, to detect longer audio.
      ...["-t", String(maxSeconds + 1), "-ac", "1", "-ar", String(sampleRate), "-f", "f32le", "pipe:1"],
    ],
    startProcess,
  );
  if (child.pid === undefined) {
    throw new AudioError("decoder_not_started", "The process that decodes the file could not be started.");
  }
  child.stderr?.resume();
  let count = 0;
  for await (const samples of readSamples(child, signal)) {
    count += samples.length;
    if (count > maxSeconds * sampleRate) throw tooLong(maxSeconds);
    yield samples;
  }
  // A truncated file yields what it holds.
  if (count === 0 && !signal.aborted) throw new AudioError("unreadable", "The file could not be decoded as audio.");
}

/** Throws an AudioError `ffmpeg_not_usable` unless the command runs and is FFmpeg. */
export async function checkFfmpeg(command: string): Promise<void> {
  const child = start(command, ["-version"]);
  const output = child.pid === undefined ? "" : await text(child.stdout).catch(() => "");
  if (output.startsWith("ffmpeg version")) return;
  throw new AudioError("ffmpeg_not_usable", `${command} cannot be run, or is not FFmpeg.`);
}

function start(command: string, parameters: readonly string[], startProcess: StartProcess = spawn): DecodeProcess {
  const child = startProcess("/bin/sh", ["-c", RUN_WITH_LIMITS, "sh", command, ...parameters], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH },
  });
  // A failed start shows as an end without output.
  child.on("error", () => {});
  return child as DecodeProcess;
}
