/** Exits with 0 while the service in this container responds. */

const { PARLANCE_PORT = "8080" } = process.env;
const response = await fetch(`http://127.0.0.1:${PARLANCE_PORT}/health/live`).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
