// npm run test:cluster [-- NAME...]: the tests against an API server, in the cluster of KUBECONFIG, or a simulated one where that is not set. NAME: parts of the names of
// test files. VMDHCP_FAULT_SEEDS=200: more faults.
import { spawnSync } from 'node:child_process';

const { KUBECONFIG = '', ...environment } = process.env;
process.stdout.write(
  KUBECONFIG === '' ? 'KUBECONFIG is not set: a simulated API server is used\n' : `cluster of ${KUBECONFIG}\n`,
);
const { status } = spawnSync('vitest', ['run', '--config', 'vitest.cluster.config.ts', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...environment, ...(KUBECONFIG !== '' && { VMDHCP_TEST_KUBECONFIG: KUBECONFIG }) },
});
process.exit(status ?? 1);
