import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** No test asserts how long something takes: what hangs is found, and a busy machine breaks nothing. */
const LIMITS = { testTimeout: 300_000, hookTimeout: 300_000 };

/** Node runs the sources as they are, as it runs what is built of them: transforming them first took a fifth of the time. */
const NATIVE = {
  experimental: { viteModuleRunner: false },
  execArgv: ['--import', fileURLToPath(new URL('scripts/typescript-sources.mjs', import.meta.url))],
};

const unit = (name: string, folder = 'packages') => ({
  test: { name, root: `${folder}/${name}`, include: ['src/**/*.test.ts'], environment: 'node' as const, ...NATIVE, ...LIMITS },
});

/** Their test files share the modules of a worker, which takes half of the processor time: each restores what it changed of the process. */
const shared = (name: string, folder?: string) => ({ test: { ...unit(name, folder).test, isolate: false } });

/** Tests that replace modules (`vi.mock`), which Node's own import cannot. */
const mocking = (name: string) => ({ test: { ...shared(name).test, experimental: { viteModuleRunner: true } } });

/** Packages that change nothing of the process: in threads. */
const threads = (name: string) => ({ test: { ...shared(name).test, pool: 'threads' as const } });

export default defineConfig({
  test: {
    // Some wait for timers. One worker fewer than there are processors, vitest's default, is only one on two.
    maxWorkers: availableParallelism() + 1,
    projects: [
      threads('dhcp-allocator'),
      threads('ippool-api'),
      threads('kube-runtime'),
      threads('reconciler'),
      threads('dhcp-agent'),
      shared('wake-on-lan'),
      shared('bare-metal'),
      threads('explain'),
      unit('service-certificates'),
      unit('redfish-client'),
      shared('status-page'),
      mocking('linux-sockets'),
      shared('lease-stores'),
      shared('agent-process'),
      shared('bare-host-agent'),
      shared('agent-cli'),
      shared('admission'),
      shared('controller-process'),
      shared('controller-cli'),
      mocking('kubectl-vmdhcp'),
      shared('kube-simulator', 'tools'),
      unit('chart-renderer', 'tools'),
      unit('alerts', 'tools'),
      unit('dashboards', 'tools'),
      unit('service-process'),
      unit('images', 'tools'),
      unit('demo', 'tools'),
    ],
  },
});
