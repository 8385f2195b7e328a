/** Options of V8 for processes that answer requests. */
export const V8_FLAGS = [
  // Objects of active requests survive a scavenge, so V8 would pretenure all later ones in the old generation, where
  // they wait for a full collection: scavenges take 10 ms instead of 1 ms, and garbage fills the heap.
  "--no-allocation-site-pretenuring",
  // Otherwise the heap grows with garbage as long as memory is free.
  "--heap-growing-percent=50",
  // Otherwise V8 collects after each burst of requests, which makes the next burst 10 % slower. `idle-memory.ts` releases
  // memory once the service is idle.
  "--no-memory-reducer",
];
