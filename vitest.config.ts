import { defineConfig } from 'vitest/config';

const unit = (name: string) => ({
  test: { name, root: `packages/${name}`, include: ['src/**/*.test.ts'], environment: 'node' as const },
});

export default defineConfig({
  test: {
    projects: [
      unit('dhcp-allocator'),
      unit('ippool-api'),
      unit('reconciler'),
      unit('agent-cli'),
      unit('controller-cli'),
      unit('kube-simulator'),
      unit('service-process'),
    ],
  },
});
