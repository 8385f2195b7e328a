/** What `failedTests` reads of the report in JSON that vitest writes. */
interface Report {
  testResults: {
    name: string;
    status: string;
    assertionResults: { fullName: string; status: string }[];
  }[];
}

/** Names of failed tests, and of files that failed outside a test; `hasFailed`: the run's own exit status. */
export function failedTests(json: string, hasFailed: boolean): string[] {
  if (json === "") return ["the run wrote no report"];
  const { testResults } = JSON.parse(json) as Report;
  const failed = testResults.flatMap(({ name, status, assertionResults }) => {
    const tests = assertionResults.filter((each) => each.status === "failed");
    if (tests.length === 0 && status === "failed") return [name];
    return tests.map(({ fullName }) => `${name} > ${fullName}`);
  });
  return failed.length === 0 && hasFailed ? ["the run failed outside its tests"] : failed;
}
