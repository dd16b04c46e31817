import { defineConfig } from 'vitest/config';

const unit = (name: string, folder = 'packages') => ({
  test: { name, root: `${folder}/${name}`, include: ['src/**/*.test.ts'], environment: 'node' as const },
});

export default defineConfig({
  test: {
    projects: [
      unit('dhcp-allocator'),
      unit('ippool-api'),
      unit('kube-runtime'),
      unit('reconciler'),
      unit('dhcp-agent'),
      unit('linux-sockets'),
      unit('agent-cli'),
      unit('controller-cli'),
      unit('kube-simulator', 'tools'),
      unit('service-process'),
    ],
  },
});
