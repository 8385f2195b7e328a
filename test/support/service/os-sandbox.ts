/** The operating system's sandbox of this machine, for tests that need one. */

import { findOsSandbox, type OsSandbox } from "../../../src/kernel/process/os-sandbox.ts";

const search = await findOsSandbox();
if ("problem" in search) console.warn(`SKIPPED: tests of the operating system's sandbox: ${search.problem}`);

export const OS_SANDBOX: OsSandbox | undefined = "sandbox" in search ? search.sandbox : undefined;
/** Value of `code_interpreter.sandbox` with which a service starts here. */
export const SANDBOX_SETTING = OS_SANDBOX === undefined ? "process" : "bubblewrap";
