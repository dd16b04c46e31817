/**
 * Tests how flags and variables of agents in a cluster change the settings of their processes. The effect of the settings is
 * tested where they are read.
 */
import type { ClusterConnection } from '@vmdhcp/kube-runtime/node';
import type { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { type ClusterServeOptions, toClusterSettings as toServeSettings } from '../actions/serve-cluster.js';
import { type HostsOptions, toHostsSettings } from '../actions/serve-hosts.js';
import { hostsCommand } from './hosts.js';
import { serveCommand } from './serve.js';

const CLUSTER: ClusterConnection = {
  server: 'https://api',
  tls: {},
  authorization: async () => undefined,
  namespace: 'of-cluster',
};
let variables: string[] = [];

afterEach(() => {
  for (const name of variables) delete process.env[name];
  variables = [];
});

/** `NAME=value` is a variable, everything else is the command line. */
function optionsOf<Options>(command: Command, text: string): Options {
  const words = text.split(' ').filter(Boolean);
  for (const [name = '', value] of words.filter((word) => /^[A-Z_]+=/.test(word)).map((word) => word.split('='))) {
    process.env[name] = value;
    variables.push(name);
  }
  const flags = words.filter((word) => !/^[A-Z_]+=/.test(word));
  return command
    .action(() => undefined)
    .parse(flags, { from: 'user' })
    .opts() as Options;
}

const serve = (text: string) => toServeSettings(optionsOf<ClusterServeOptions>(serveCommand(), text), CLUSTER);
const hosts = (text: string) =>
  toHostsSettings(optionsOf<HostsOptions>(hostsCommand(), text), { clusterAgent: 'rack-1', state: '' }, CLUSTER);

describe.each([
  {
    program: 'serve',
    settingsOf: serve,
    rows: [
      ['--log-packets', { logPackets: true }],
      ['--lease-name one', { leaseName: 'one' }],
      ['AGENT_LEASE_NAME=one', { leaseName: 'one' }],
      ['--lease-seconds 10', { election: { leaseDurationMs: 10_000 } }],
      ['--no-leader-election', { isAlone: true }],
      ['--dry-run', { isDryRun: true }],
      ['--enable-cache-dump-api', { showsLeases: true }],
      ['--http off', { http: undefined }],
      ['POD_NAMESPACE=here', { namespace: 'here' }],
      ['POD_NAME=pod-1', { identity: expect.stringMatching(/^pod-1_/) }],
    ] as const,
  },
  {
    program: 'hosts',
    settingsOf: hosts,
    rows: [
      ['--log-packets', { logPackets: true }],
      ['--pod-network own', { hasOwnNetwork: true }],
      ['AGENT_POD_NETWORK=own', { hasOwnNetwork: true }],
      ['--update-interval 7', { pollIntervalMs: 7_000 }],
      ['HOST_STATUS_UPDATE_INTERVAL=7', { pollIntervalMs: 7_000 }],
      ['--lease-seconds 20', { election: { leaseDurationMs: 20_000 } }],
      ['--no-leader-election', { isAlone: true }],
      ['--listen off', { http: undefined }],
      ['POD_NAMESPACE=here', { namespace: 'here' }],
      ['--namespace here', { namespace: 'here' }],
      ['POD_NAME=pod-1', { identity: expect.stringMatching(/^pod-1_/) }],
    ] as const,
  },
])('$program', ({ settingsOf, rows }) => {
  it.each<readonly [text: string, settings: object]>(rows)(
    '%s changes its setting, and the default is different',
    (text, settings) => {
      expect(settingsOf('')).not.toMatchObject(settings);
      expect(settingsOf(text)).toMatchObject(settings);
    },
  );
});

it('LOG_LEVEL is the level of the log of hosts, and --log-level overrides it', () => {
  expect(optionsOf<HostsOptions>(hostsCommand(), 'LOG_LEVEL=warn').logLevel).toBe('warn');
  expect(optionsOf<HostsOptions>(hostsCommand(), 'LOG_LEVEL=warn --log-level debug').logLevel).toBe('debug');
});
