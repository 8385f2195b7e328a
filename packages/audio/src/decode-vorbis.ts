/** Decodes Vorbis packets. The decoder takes Ogg only, so packets of any container are muxed into Ogg pages first. */

import { OggVorbisDecoder } from "@wasm-audio-decoders/ogg-vorbis";
import { EncodedAudioPacketSource, OggOutputFormat, Output, StreamTarget } from "mediabunny";
import type { DecodedAudio, Frames, PacketDecoder } from "./decode-packets.ts";

/** `config.description` holds Vorbis's three header packets. */
export async function vorbisDecoder(config: AudioDecoderConfig): Promise<PacketDecoder> {
  const decoder = new OggVorbisDecoder();
  await decoder.ready;
  let pages: Uint8Array[] = [];
  const written = new WritableStream<{ data: Uint8Array }>({
    write: ({ data }) => {
      pages.push(data.slice());
    },
  });
  const output = new Output({ format: new OggOutputFormat(), target: new StreamTarget(written) });
  const source = new EncodedAudioPacketSource("vorbis");
  output.addAudioTrack(source);
  await output.start();

  const takePages = () => {
    const bytes = Buffer.concat(pages);
    pages = [];
    return bytes;
  };
  const toAudio = ({ channelData, sampleRate }: Frames): DecodedAudio | undefined =>
    channelData.length === 0 ? undefined : { channels: channelData, sampleRate };

  return {
    decode: async (packets) => {
      for (const packet of packets) await source.add(packet, { decoderConfig: config });
      return toAudio(await decoder.decode(takePages()));
    },
    finish: async () => {
      await output.finalize();
      return toAudio(await decoder.decodeFile(takePages()));
    },
    close: () => decoder.free(),
  };
}
