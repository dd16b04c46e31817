import { logLevelOf } from '@vmdhcp/controller-process';
import { expect, it } from 'vitest';
import { runCommand } from './run.js';

type Options = Parameters<typeof logLevelOf>[0];

function optionsOf(words: readonly string[]): Options {
  const command = runCommand();
  command.parseOptions([...words]);
  return command.opts<Options>();
}

it.each<[flags: string, environment: Readonly<Record<string, string>>, level: string]>([
  ['', {}, 'info'],
  ['--log-level warn', {}, 'warn'],
  ['--debug', {}, 'debug'],
  ['--trace', {}, 'trace'],
  ['--debug --trace', {}, 'trace'],
  ['--log-level warn --debug', {}, 'debug'],
  ['', { VM_DHCP_CONTROLLER_DEBUG: 'true' }, 'debug'],
  ['', { VM_DHCP_CONTROLLER_TRACE: '1' }, 'trace'],
  ['', { VM_DHCP_CONTROLLER_DEBUG: 'false', VM_DHCP_CONTROLLER_TRACE: '0' }, 'info'],
])('a controller with the flags "%s" and the variables %o logs at level %s', (flags, environment, level) => {
  expect(logLevelOf(optionsOf(flags.split(' ').filter(Boolean)), environment)).toBe(level);
});
