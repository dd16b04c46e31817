import { CommandError } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { agentOptions } from './agent-options.js';
import { type BareMetalOptions, bareMetalOptions, toBareMetal } from './bare-metal-options.js';

function parse(...words: readonly string[]): BareMetalOptions {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of [...agentOptions(), ...bareMetalOptions()]) command.addOption(option);
  return command.parse(words, { from: 'user' }).opts<BareMetalOptions>();
}

afterEach(() => vi.unstubAllEnvs());

describe('the options of bare-metal hosts', () => {
  it('without --bare-metal there are none', () => {
    expect(toBareMetal(parse('--image', 'agent:1'))).toBeUndefined();
  });

  it('by default leases are in the API server, and agents read Secrets of their own namespace', () => {
    vi.stubEnv('POD_NAMESPACE', 'vmdhcp');
    expect(toBareMetal(parse('--bare-metal', '--image', 'agent:1', '--namespace', 'agents'))).toEqual({
      namespace: 'agents',
      image: 'agent:1',
      imagePullPolicy: 'IfNotPresent',
      imagePullSecrets: [],
      priorityClassName: 'system-cluster-critical',
      leases: { kind: 'api' },
      secretNamespaces: ['agents'],
      statusIntervalSeconds: 60,
    });
  });

  it.each([
    [
      ['--bare-metal-leases', 'host-path', '--bare-metal-leases-path', '/data/leases/'],
      { kind: 'host-path', path: '/data/leases' },
    ],
    [['--bare-metal-leases', 'pvc'], { kind: 'pvc', size: '100M', storageClass: undefined }],
    [
      ['--bare-metal-leases', 'pvc', '--bare-metal-leases-size', '1Gi', '--bare-metal-leases-storage-class', 'fast'],
      { kind: 'pvc', size: '1Gi', storageClass: 'fast' },
    ],
  ])('%j', (words, leases) => {
    expect(toBareMetal(parse('--bare-metal', '--image', 'agent:1', ...words))?.leases).toEqual(leases);
  });

  it('namespaces of Secrets replace the default, each once', () => {
    const words = ['bmc', 'rack', 'bmc'].flatMap((one) => ['--bare-metal-secret-namespace', one]);
    expect(toBareMetal(parse('--bare-metal', '--image', 'agent:1', ...words))?.secretNamespaces).toEqual(['bmc', 'rack']);
  });

  it('an option without effect is refused together with all others', () => {
    const messageOf = (...words: readonly string[]): string => {
      try {
        toBareMetal(parse(...words));
        return '';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const size = ['--bare-metal-leases-size', '1Gi'];
    expect(messageOf('--bare-metal', ...size, '--bare-metal-leases-path', '/data').split('\n')).toEqual([
      'with --bare-metal the controller creates the Deployments of agents: give their image (--image, AGENT_IMAGE)',
      '--bare-metal-leases-path has no effect with --bare-metal-leases api: give --bare-metal-leases host-path, or omit it',
      '--bare-metal-leases-size has no effect with --bare-metal-leases api: give --bare-metal-leases pvc, or omit it',
    ]);
    expect(messageOf('--bare-metal-leases', 'pvc', ...size, '--bare-metal-secret-namespace', 'bmc').split('\n')).toEqual([
      '--bare-metal-leases has no effect without --bare-metal: give --bare-metal too, or omit it',
      '--bare-metal-leases-size has no effect without --bare-metal: give --bare-metal too, or omit it',
      '--bare-metal-secret-namespace has no effect without --bare-metal: give --bare-metal too, or omit it',
    ]);
  });

  it('without an image the error names the option', () => {
    expect(() => toBareMetal(parse('--bare-metal'))).toThrow(CommandError);
  });

  it.each([
    ['--bare-metal-leases-path', 'data'],
    ['--bare-metal-leases-path', '/data/../etc'],
    ['--bare-metal-leases-size', 'much'],
    ['--bare-metal-status-seconds', '0'],
    ['--bare-metal-leases', 'memory'],
    ['--bare-metal-secret-namespace', 'A_B'],
  ])('refuses %s %s', (flag, value) => {
    expect(() => parse(flag, value)).toThrow(/invalid/);
  });
});
