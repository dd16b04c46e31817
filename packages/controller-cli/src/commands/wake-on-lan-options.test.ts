import { CommandError } from '@vmdhcp/service-process';
import { Command } from 'commander';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { agentOptions } from './agent-options.js';
import { toWakeOnLan, type WakeOnLanOptions, wakeOnLanOptions } from './wake-on-lan-options.js';

function parse(...words: readonly string[]): WakeOnLanOptions {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => undefined });
  for (const option of [...agentOptions(), ...wakeOnLanOptions()]) command.addOption(option);
  return command.parse(words, { from: 'user' }).opts<WakeOnLanOptions>();
}

afterEach(() => vi.unstubAllEnvs());

describe('the options of Wake-on-LAN', () => {
  it('without --wake-on-lan there is none', () => {
    expect(toWakeOnLan(parse('--image', 'agent:1', '--wake-on-lan-clear-text'))).toBeUndefined();
  });

  it('by default agents reach a Service of the namespace of the controller by TLS', () => {
    vi.stubEnv('POD_NAMESPACE', 'vmdhcp');
    vi.stubEnv('POD_IP', '10.0.0.1');
    expect(toWakeOnLan(parse('--wake-on-lan', '--image', 'agent:1'))).toEqual({
      listen: { host: '::', port: 9090 },
      agents: {
        namespace: 'vmdhcp',
        image: 'agent:1',
        imagePullSecrets: [],
        serviceAccountName: undefined,
        manager: 'vmdhcp-wake-on-lan.vmdhcp.svc:9090',
      },
      podAddress: '10.0.0.1',
      clearText: false,
    });
  });

  it('another Service, ServiceAccount, port and namespace; an address is used unchanged', () => {
    vi.stubEnv('POD_NAMESPACE', 'vmdhcp');
    const words = ['--wake-on-lan', '--image', 'agent:1', '--namespace', 'agents', '--wake-on-lan-listen', '127.0.0.1:9191'];
    const named = ['--wake-on-lan-service', 'wol', '--wake-on-lan-service-account', 'listener'];
    expect(toWakeOnLan(parse(...words, ...named))?.agents).toMatchObject({
      namespace: 'agents',
      serviceAccountName: 'listener',
      manager: 'wol.vmdhcp.svc:9191',
    });
    expect(toWakeOnLan(parse(...words, '--wake-on-lan-service', 'managers.example:9443'))?.agents.manager).toBe(
      'managers.example:9443',
    );
  });

  it('without the image of agents, or without an address to listen on, it does not start', () => {
    expect(() => toWakeOnLan(parse('--wake-on-lan'))).toThrow(CommandError);
    expect(() => parse('--wake-on-lan-listen', 'off')).toThrow('leave out --wake-on-lan');
    expect(() => parse('--wake-on-lan-listen', '99999')).toThrow('write HOST:PORT');
  });
});
