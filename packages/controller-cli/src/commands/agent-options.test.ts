/**
 * Tests how each flag about agents changes the settings of the controller. The effect of the settings is tested where they are
 * read.
 */
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { type AgentOptions, agentOptions } from './agent-options.js';
import { type AuditOptions, auditOptions, toAudit } from './audit-options.js';
import { toAgents } from './to-agents.js';

function optionsOf<Options>(words: readonly string[]): Options {
  const command = new Command();
  for (const option of [...agentOptions(), ...auditOptions()]) command.addOption(option);
  return command.parse(['--image', 'agent:v1', '--namespace', 'agents', ...words], { from: 'user' }).opts() as Options;
}

describe('a flag about agents', () => {
  it.each<[flags: string, settings: object]>([
    ['--agent-topology per-pool', { topology: 'per-pool' }],
    ['--max-pools-per-agent 7', { maxPoolsPerAgent: 7 }],
    ['--max-groups-upgrading 9', { maxGroupsUpgrading: 9 }],
    ['--agent-lease-writes-per-second 11', { leaseWritesPerSecond: 11 }],
    ['--previous-namespace before', { previousNamespace: 'before' }],
    ['--previous-namespace agents', { previousNamespace: undefined }],
    ['--agent-log-level debug', { log: { level: 'debug' } }],
    ['--agent-log-packets', { log: { packets: true } }],
    ['--agent-deployment one', { unified: { deploymentName: 'one' } }],
    ['--agent-container two', { unified: { containerName: 'two' } }],
    ['--no-dhcp', { unified: { dryRun: true }, pods: { dryRun: true } }],
    ['--service-account-name agent', { groupRights: false, pods: { serviceAccountName: 'agent' } }],
    ['--image-pull-policy Never', { pods: { imagePullPolicy: 'Never' } }],
    ['--image-pull-secret one --image-pull-secret two', { pods: { imagePullSecrets: ['one', 'two'] } }],
    ['--agent-replicas 3', { pods: { replicas: 3 } }],
    ['--agent-priority-class high', { pods: { priorityClassName: 'high' } }],
    ['--agent-memory-limit 1Gi', { pods: { resources: { memoryLimit: '1Gi' } } }],
    ['--agent-lease-seconds 5', { pods: { leaseSeconds: 5 } }],
  ])('%s changes its setting, and the default is different', (flags, settings) => {
    expect(toAgents(optionsOf<AgentOptions>(flags.split(' ')))).toMatchObject(settings);
    if (flags !== '--previous-namespace agents') expect(toAgents(optionsOf<AgentOptions>([]))).not.toMatchObject(settings);
  });

  it('--no-agent: the controller does not manage agents', () => {
    expect(toAgents(optionsOf<AgentOptions>(['--no-agent']))).toBeUndefined();
  });
});

describe('a flag about records of who had which address', () => {
  it.each<[flags: string, settings: object | undefined]>([
    ['', { namespace: 'agents', mostOctets: 8_388_608 }],
    ['--audit-mebibytes 1', { namespace: 'agents', mostOctets: 1_048_576 }],
    ['--no-audit', undefined],
  ])('"%s" is converted to its settings', (flags, settings) => {
    expect(toAudit(optionsOf<AuditOptions>(flags.split(' ').filter(Boolean)))).toEqual(settings);
  });
});
