import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { booleanOption } from './boolean-option.js';

function parsed(...argv: readonly string[]): Readonly<Record<string, unknown>> {
  const command = new Command()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .option('--name <name>')
    .addOption(booleanOption('--no-dhcp', 'serve nothing'))
    .addOption(booleanOption('--dry-run', 'serve nothing').env('VMDHCP_TEST_DRY_RUN'));
  return command.parse([...argv], { from: 'user' }).opts();
}

describe('booleanOption', () => {
  it.each<[string[], boolean]>([
    [[], true],
    [['--no-dhcp'], false],
    [['--no-dhcp=true'], false],
    [['--no-dhcp=1'], false],
    [['--no-dhcp=false'], true],
    [['--no-dhcp=F'], true],
    [['--no-dhcp', '--name', 'x'], false],
  ])('%j: dhcp is %s', (argv, expected) => {
    expect(parsed(...argv)['dhcp']).toBe(expected);
  });

  it.each<[string[], boolean | undefined]>([
    [[], undefined],
    [['--dry-run'], true],
    [['--dry-run=true'], true],
    [['--dry-run=false'], false],
  ])('%j: dryRun is %s', (argv, expected) => {
    expect(parsed(...argv)['dryRun']).toBe(expected);
  });

  it('an environment variable has the same effect', () => {
    process.env['VMDHCP_TEST_DRY_RUN'] = 'true';
    try {
      expect(parsed()['dryRun']).toBe(true);
      expect(parsed('--dry-run=false')['dryRun']).toBe(false);
    } finally {
      delete process.env['VMDHCP_TEST_DRY_RUN'];
    }
  });

  it('an error names the allowed values', () => {
    expect(() => parsed('--no-dhcp=maybe')).toThrow('write true or false, or nothing for true');
  });
});
