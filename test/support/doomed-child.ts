/** A service that is killed: opens a model, keeps it at work, says its process's number. */

import { openHosted, tell } from "./host-fixture.ts";
import { readAnswer } from "./read-answer.ts";

const { model } = await openHosted("chat");
const working = readAnswer(tell(model, process.argv[2] ?? "forever"));
setTimeout(() => console.log(model.pid), 200);
await working;
