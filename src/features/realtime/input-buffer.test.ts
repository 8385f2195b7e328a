import { expect, test } from "vitest";
import { InputBuffer } from "./input-buffer.ts";

const PCMU = { type: "audio/pcmu" } as const;
const PCM = { type: "audio/pcm", rate: 24_000 } as const;

async function append(buffer: InputBuffer, bytes: Buffer, format: typeof PCMU | typeof PCM = PCMU): Promise<void> {
  expect(await Array.fromAsync(buffer.append(bytes, format))).toEqual([]);
}

test("refuses audio beyond its limit until it is cleared", async () => {
  const buffer = new InputBuffer(PCMU);
  const minute = Buffer.alloc(60 * 8000, 0xff);
  for (let minutes = 0; minutes <= 10; minutes += 1) await append(buffer, minute);
  await expect(append(buffer, minute)).rejects.toMatchObject({ code: "input_audio_buffer_full", param: "audio" });
  buffer.clear();
  await append(buffer, minute);
  expect((await buffer.commit()).length).toBeCloseTo(60 * 16_000, -3);
});

test("joins samples that are split between events, and formats that change", async () => {
  const buffer = new InputBuffer(PCM);
  const pcm = Buffer.alloc(48_000);
  for (let index = 0; index < 24_000; index += 1) pcm.writeInt16LE(Math.round(8000 * Math.sin(index / 20)), 2 * index);
  for (let start = 0; start < pcm.length; start += 1001) await append(buffer, pcm.subarray(start, start + 1001), PCM);
  await append(buffer, Buffer.alloc(8000, 0xff), PCMU);
  const samples = await buffer.commit();
  expect(samples.length).toBeCloseTo(2 * 16_000, -2);
  // The sine goes on where events were cut: no step is larger than its steepest one.
  const steps = Array.from(samples.subarray(100, 15_900), (sample, index) =>
    Math.abs(sample - (samples[99 + index] ?? 0)),
  );
  expect(Math.max(...steps)).toBeLessThan(0.02);
});

test("refuses to commit too little audio, and keeps it", async () => {
  const buffer = new InputBuffer(PCMU);
  await append(buffer, Buffer.alloc(400, 0xff));
  await expect(buffer.commit()).rejects.toMatchObject({
    code: "input_audio_buffer_commit_empty",
    message: "The input audio buffer has 50 ms of audio; at least 100 ms are needed.",
  });
  await append(buffer, Buffer.alloc(400, 0xff));
  expect(await buffer.commit()).toHaveLength(1600);
});

test("lets other work run while it decodes minutes of audio", async () => {
  const buffer = new InputBuffer(PCMU);
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  }, 0);
  await append(buffer, Buffer.alloc(60 * 8000, 0xff));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(20);
});
