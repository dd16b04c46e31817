import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** No test asserts how long something takes: what hangs is found, and a busy machine breaks nothing. */
const LIMITS = { testTimeout: 60_000, hookTimeout: 60_000 };

const unit = (name: string, folder = 'packages') => ({
  test: { name, root: `${folder}/${name}`, include: ['src/**/*.test.ts'], environment: 'node' as const, ...LIMITS },
});

/** Packages without global state: their test files share the modules of a worker, which takes a third of the time. */
const shared = (name: string) => ({ test: { ...unit(name).test, pool: 'threads' as const, isolate: false } });

export default defineConfig({
  test: {
    // One worker fewer, vitest's default, is only one on two processors.
    maxWorkers: availableParallelism(),
    projects: [
      shared('dhcp-allocator'),
      shared('ippool-api'),
      shared('kube-runtime'),
      shared('reconciler'),
      shared('dhcp-agent'),
      shared('wake-on-lan'),
      shared('host-inventory'),
      shared('host-agent'),
      unit('service-certificates'),
      unit('wol-service'),
      unit('redfish-client'),
      unit('status-page'),
      unit('linux-sockets'),
      unit('agent-cli'),
      unit('controller-cli'),
      unit('kube-simulator', 'tools'),
      unit('chart-renderer', 'tools'),
      unit('alerts', 'tools'),
      unit('dashboards', 'tools'),
      unit('service-process'),
      unit('images', 'tools'),
    ],
  },
});
