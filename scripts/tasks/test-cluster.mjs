// npm run test:cluster: the cluster suite against the cluster of KUBECONFIG, or a simulated one where that is not set.
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
