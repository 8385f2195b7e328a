/** A service for tests to kill: opens a model, keeps it busy and prints its PID. */

import { ask, openHosted } from "../models/host-fixture.ts";
import { readAnswer } from "./read-answer.ts";

const { model } = await openHosted("chat");
const working = readAnswer(ask(model, process.argv[2] ?? "forever"));
setTimeout(() => console.log(model.pid), 200);
await working;
