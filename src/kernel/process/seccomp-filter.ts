/**
 * A filter of system calls in the kernel's own format (seccomp(2)) for programs that compute and read pipes and files:
 * no sockets, no processes, no tracing, no mounts, no namespaces, no interfaces that are known for flaws of the kernel.
 * Threads are allowed.
 */

interface Architecture {
  /** AUDIT_ARCH_… of linux/audit.h. */
  audit: number;
  clone: number;
  denied: readonly number[];
}

/** Numbers that both architectures share: io_uring, mounts by file descriptors, pidfd, memfd_secret, process_madvise. */
const SHARED = [425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 447];
const CLONE3 = 435;

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000_003e,
    clone: 56,
    denied: [
      // fork, vfork, execveat, ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[57, 58, 322, 101, 310, 311, 312],
      // socket, connect, accept, bind, listen, socketpair
      ...[41, 42, 43, 49, 50, 53],
      // mount, umount2, pivot_root, chroot, unshare, setns, quotactl, name_to_handle_at, open_by_handle_at
      ...[165, 166, 155, 161, 272, 308, 179, 303, 304],
      // bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, fanotify_init, memfd_create, seccomp
      ...[321, 298, 323, 248, 249, 250, 300, 319, 317],
      // mbind, migrate_pages, move_pages, lookup_dcookie, modify_ldt, personality, ioperm, iopl, vhangup
      ...[237, 256, 279, 212, 154, 135, 173, 172, 153],
      // init_module, finit_module, delete_module, kexec_load, kexec_file_load, reboot, swapon, swapoff, acct, syslog
      ...[175, 313, 176, 246, 320, 169, 167, 168, 163, 103],
      // settimeofday, adjtimex, clock_settime, clock_adjtime
      ...[164, 159, 227, 305],
    ],
  },
  arm64: {
    audit: 0xc000_00b7,
    clone: 220,
    denied: [
      // execveat, ptrace, process_vm_readv, process_vm_writev, kcmp
      ...[281, 117, 270, 271, 272],
      // socket, connect, accept, bind, listen, socketpair
      ...[198, 203, 202, 200, 201, 199],
      // mount, umount2, pivot_root, chroot, unshare, setns, quotactl, name_to_handle_at, open_by_handle_at
      ...[40, 39, 41, 51, 97, 268, 60, 264, 265],
      // bpf, perf_event_open, userfaultfd, add_key, request_key, keyctl, fanotify_init, memfd_create, seccomp
      ...[280, 241, 282, 217, 218, 219, 262, 279, 277],
      // mbind, migrate_pages, move_pages, lookup_dcookie, personality, vhangup
      ...[235, 238, 239, 18, 92, 58],
      // init_module, finit_module, delete_module, kexec_load, kexec_file_load, reboot, swapon, swapoff, acct, syslog
      ...[105, 273, 106, 104, 294, 142, 224, 225, 89, 116],
      // settimeofday, adjtimex, clock_settime, clock_adjtime
      ...[170, 171, 112, 266],
    ],
  },
};

/** Operations of linux/bpf_common.h on the data of the call (linux/seccomp.h). */
const [LOAD, EQUAL, AT_LEAST, HAS_BITS, RETURN] = [0x20, 0x15, 0x35, 0x45, 0x06];
const [NUMBER_OFFSET, ARCHITECTURE_OFFSET, FIRST_ARGUMENT_OFFSET] = [0, 4, 16];
const [ALLOW, KILL, FAIL] = [0x7fff_0000, 0x8000_0000, 0x0005_0000];
const [EPERM, ENOSYS] = [1, 38];
const CLONE_THREAD = 0x0001_0000;
/** Calls of the x32 ABI, which have these numbers on x64, would pass the others' checks. */
const X32 = 0x4000_0000;

type Instruction = [code: number, ifTrue: number, ifFalse: number, operand: number];

/** Returns undefined for an architecture whose numbers are not here. */
export function seccompFilter(architecture: string = process.arch): Buffer | undefined {
  const numbers = ARCHITECTURES[architecture];
  if (numbers === undefined) return undefined;
  const refuse = (number: number, error = EPERM): Instruction[] => [
    [EQUAL, 0, 1, number],
    [RETURN, 0, 0, FAIL | error],
  ];
  return encode([
    [LOAD, 0, 0, ARCHITECTURE_OFFSET],
    [EQUAL, 1, 0, numbers.audit],
    [RETURN, 0, 0, KILL],
    [LOAD, 0, 0, NUMBER_OFFSET],
    [AT_LEAST, 0, 1, X32],
    [RETURN, 0, 0, FAIL | EPERM],
    // Its flags are behind a pointer; the C library falls back to clone.
    ...refuse(CLONE3, ENOSYS),
    ...[...numbers.denied, ...SHARED].flatMap((number) => refuse(number)),
    [EQUAL, 1, 0, numbers.clone],
    [RETURN, 0, 0, ALLOW],
    [LOAD, 0, 0, FIRST_ARGUMENT_OFFSET],
    [HAS_BITS, 0, 1, CLONE_THREAD],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, FAIL | EPERM],
  ]);
}

function encode(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, operand]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand >>> 0, index * 8 + 4);
  }
  return bytes;
}
