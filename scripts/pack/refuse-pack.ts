/** Runs before `npm pack` in the checkout, whose tarball would lack the compiled code and its dependencies. */

console.error(
  "error: `npm pack` cannot build the tarball of a checkout. Run `npm run tarball`, with the same options.",
);
process.exit(1);
