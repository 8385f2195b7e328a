/** A service for tests to kill: opens a model, keeps it busy and prints its PID, and that of a program it has started. */

import { ask, openHosted } from "../models/host-fixture.ts";
import { readAnswer } from "./read-answer.ts";

const { model, logged } = await openHosted("chat", { hasProgram: true });
const working = readAnswer(ask(model, process.argv[2] ?? "forever"));
setTimeout(() => console.log(model.pid, /PID (\d+)/.exec(logged.join())?.[1]), 200);
await working;
