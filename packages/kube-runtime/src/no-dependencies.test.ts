import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

it('fact 25: the package has no runtime dependencies, and the readers of kubeconfig files are optional', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Record<string, unknown>;
  expect(manifest['dependencies'] ?? {}).toEqual({});
  expect(manifest['peerDependenciesMeta']).toEqual({ '@kubernetes/client-node': { optional: true }, yaml: { optional: true } });
});
