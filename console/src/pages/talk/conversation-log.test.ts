import { expect, test } from "vitest";
import { ConversationLog } from "./conversation-log.ts";

test("times the stages of an answer from the end of the user's speech", () => {
  const log = new ConversationLog();
  log.read({ type: "input_audio_buffer.speech_stopped", item_id: "u" }, 1000);
  log.read({ type: "input_audio_buffer.committed", item_id: "u" }, 1001);
  log.read({ type: "conversation.item.input_audio_transcription.delta", item_id: "u", delta: "Hel" }, 1300);
  expect(log.turns).toMatchObject([{ speaker: "user", text: "Hel", isComplete: false }]);
  log.read({ type: "conversation.item.input_audio_transcription.completed", item_id: "u", transcript: "Hello." }, 1400);
  log.read({ type: "response.output_audio_transcript.delta", item_id: "a", delta: "Good " }, 1650);
  log.read({ type: "response.output_audio_transcript.delta", item_id: "a", delta: "day." }, 1700);
  log.read({ type: "response.output_audio.delta", item_id: "a", delta: "AAAA" }, 1900);
  log.read({ type: "response.output_audio.delta", item_id: "a", delta: "AAAA" }, 2500);
  log.read({ type: "response.output_audio_transcript.done", item_id: "a", transcript: "Good day." }, 2600);
  expect(log.turns).toEqual([
    { id: "u", speaker: "user", text: "Hello.", isComplete: true, isInterrupted: false, stages: {} },
    {
      id: "a",
      speaker: "assistant",
      text: "Good day.",
      isComplete: true,
      isInterrupted: false,
      stages: { hearMs: 400, thinkMs: 250, speakMs: 250 },
    },
  ]);
});

test("leaves out a turn without words and one that could not be transcribed", () => {
  const log = new ConversationLog();
  for (const id of ["cough", "noise"]) log.read({ type: "input_audio_buffer.committed", item_id: id }, 0);
  log.read({ type: "conversation.item.input_audio_transcription.completed", item_id: "cough", transcript: " " }, 1);
  log.read({ type: "conversation.item.input_audio_transcription.failed", item_id: "noise" }, 2);
  expect(log.turns).toEqual([]);
});

test("marks an answer that was interrupted, and times the next one by itself", () => {
  const log = new ConversationLog();
  log.read({ type: "input_audio_buffer.speech_stopped" }, 0);
  log.read({ type: "response.output_audio_transcript.delta", item_id: "a", delta: "Long" }, 5);
  log.interrupt("a");
  log.interrupt("unseen");
  log.read({ type: "input_audio_buffer.speech_stopped" }, 100);
  log.read({ type: "response.output_audio_transcript.delta", item_id: "b", delta: "Short" }, 107);
  expect(log.turns).toMatchObject([
    { id: "a", isInterrupted: true, stages: { thinkMs: 5 } },
    { id: "b", isInterrupted: false, stages: { thinkMs: 7 } },
  ]);
});
